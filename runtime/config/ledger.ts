import { z } from "zod";
import { compileOwners, type OwnerRules } from "../../domain/owner/compile.ts";
import type { EnergyFactors } from "../../domain/energy/factors.ts";
import type { OwnerConfig } from "../../domain/owner/rule.ts";
import { minorDigitsOf } from "../../domain/price/currency.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { readBook } from "../../domain/price/read.ts";
import type { ServingRules } from "../../domain/serving/rules.ts";
import { between } from "./between.ts";
import { checkEnergy, energy, factorsOf } from "./energy.ts";
import { listBook } from "./list-prices.ts";
import { ownerLists, ownerRuleOrFile } from "./owners.ts";
import { ownersFile } from "./owners-file.ts";
import { checkPolicies, policiesOf, policy, type ConfiguredPolicy } from "./policies.ts";
import { bookIn, bookKeys, checkBook, priceFile, type WrittenBook } from "./price-book.ts";
import { duration } from "./quantity.ts";
import { serving, servingOf } from "./serving.ts";
import { flag, list, text, type ConfigSources, whole } from "./words.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

const CURRENCY = "a currency of ISO 4217, such as USD";
const DEFAULT_CURRENCY = "USD";

/** The schema of the currency of every bill. */
export const currency = z
  .string({ error: CURRENCY })
  .refine((code) => minorDigitsOf(code) !== undefined, { error: CURRENCY, abort: true })
  .meta({ description: `${CURRENCY}.` });

/** The schema of the register: the list of teams that exist. */
export const register = list(text("a team")).describe(
  "The teams of the organization. If a name is missing here, the next source is used.",
);

/** Returns the configuration keys that define how GPU time becomes bills. */
export const ledgerKeys = (sources: ConfigSources) => ({
  currency: currency.optional().describe(`The currency of all bills. Default: ${DEFAULT_CURRENCY}.`),
  ...bookKeys,
  pricesFile: priceFile(sources).optional().describe("A separate file with the price book, instead of the keys above."),
  listPrices: flag
    .optional()
    .describe(
      "Use public list prices while there is no price book. Default: true for a ledger that began without a book, false for an older one.",
    ),
  owners: ownerLists(ownerRuleOrFile).describe("The rules for the owner of a workload. See docs/owners.md."),
  ownersFile: ownersFile(sources).optional().describe("The CSV file of finance. It comes before all other sources."),
  register: register.optional(),
  requireRegister: flag
    .default(false)
    .describe("Refuse a configuration without a register, so that a label cannot create a team."),
  policies: list(policy).default([]).describe("The payers of each state. Default: one policy with the name default."),
  energy: energy.optional().describe("The emissions of electricity."),
  serving,
  absentAfter: duration("1h", "30d")
    .default(DAY_MILLIS)
    .describe("Without Kubernetes: the time without a sample after which a GPU is gone, from its last sample on."),
  closing: z
    .strictObject({
      day: whole(1, 28)
        .default(3)
        .describe("The first day of the next month (UTC) on which a billing period can be closed."),
      lateness: duration("1h", "3650d")
        .optional()
        .describe(
          "The longest delay of data that is still counted automatically: one day less than raw rows are kept, at most 35d.",
        ),
      accounts: z
        .record(text("an account's name"), list(text("a cluster's name")), { error: "accounts with their clusters" })
        .optional()
        .describe(
          "The clusters that an account on an invoice pays for. Without this key one account pays for the whole fleet.",
        ),
    })
    .prefault({})
    .describe("The closing of billing periods."),
});

const BOOK_KEYS = Object.keys(bookKeys) as (keyof typeof bookKeys)[];
const DEFAULT_LATENESS_MILLIS = 35 * DAY_MILLIS;

/** The clusters of each account, keyed by the account's name. */
export type Accounts = Readonly<Record<string, readonly string[]>>;

/** The output of {@link ledgerKeys}, and the number of days that raw rows are kept. */
type WrittenLedger = OwnerConfig &
  Omit<WrittenBook, "currency"> & {
    readonly currency?: string | undefined;
    readonly pricesFile?: WrittenBook | undefined;
    readonly listPrices?: boolean | undefined;
    readonly policies: readonly z.output<typeof policy>[];
    readonly energy?: z.output<typeof energy> | undefined;
    readonly serving: z.output<typeof serving>;
    readonly requireRegister: boolean;
    readonly absentAfter: number;
    readonly closing: {
      readonly day: number;
      readonly lateness?: number | undefined;
      readonly accounts?: Accounts | undefined;
    };
    readonly store: { readonly rawDays: number };
  };

/** Checks between keys. Each key can be valid by itself while the combination is not. */
export const LEDGER_CHECKS: readonly z.core.$ZodCheck<WrittenLedger>[] = [
  between([["currency"], ["pricesFile"], ...Object.keys(bookKeys).map((key) => [key])], checkPrices),
  between([["owners"], ["ownersFile"], ["register"]], checkOwners),
  between([["register"], ["requireRegister"]], ({ register: teams, requireRegister }, context) => {
    if (requireRegister && teams === undefined)
      context.addIssue({
        code: "custom",
        path: ["register"],
        message: "a list of teams, because requireRegister is true",
      });
  }),
  between([["policies"]], ({ policies }, context) => checkPolicies(policies, context)),
  between([["energy"]], ({ energy: given }, context) => checkEnergy(given, context)),
  between([["closing", "accounts"]], checkAccounts),
  between(
    [
      ["closing", "lateness"],
      ["store", "rawDays"],
    ],
    checkLateness,
  ),
];

function checkPrices(config: WrittenLedger, context: z.RefinementCtx): void {
  const complain = (path: PropertyKey[], message: string): void => context.addIssue({ code: "custom", path, message });
  if (config.pricesFile === undefined) {
    checkBook(bookIn({ ...config, currency: config.currency ?? DEFAULT_CURRENCY }), context);
    return;
  }
  for (const key of BOOK_KEYS)
    if (config[key] !== undefined)
      complain([key], "allowed together with pricesFile: write prices in the file or here");
  if (config.currency !== undefined && config.currency !== config.pricesFile.currency)
    complain(["currency"], `the currency of pricesFile, which is ${config.pricesFile.currency}`);
}

function checkAccounts({ closing }: WrittenLedger, context: z.RefinementCtx): void {
  const message = "a cluster that no other account has";
  const clusters = Object.entries(closing.accounts ?? {}).flatMap(([account, ofAccount]) =>
    ofAccount.map((cluster, index) => ({ account, cluster, index })),
  );
  for (const { account, cluster, index } of clusters)
    if (clusters.some((other) => other.cluster === cluster && other.account !== account))
      context.addIssue({ code: "custom", path: ["closing", "accounts", account, index], message });
}

function checkLateness({ closing: { lateness }, store: { rawDays } }: WrittenLedger, context: z.RefinementCtx): void {
  const message = `at most one day less than store.rawDays, which is ${rawDays}d`;
  if (lateness !== undefined && lateness + DAY_MILLIS > rawDays * DAY_MILLIS)
    context.addIssue({ code: "custom", path: ["closing", "lateness"], message });
}

/** Adds an issue for each problem between the owner rules. */
export function checkOwners(config: OwnerConfig, context: z.RefinementCtx): void {
  const compiled = compileOwners(config);
  if ("rules" in compiled) return;
  for (const { path, allowed } of compiled.problems)
    context.addIssue({ code: "custom", path: [...path], message: allowed });
}

/** The rules that turn GPU time into bills. */
export interface Ledger {
  readonly book: PriceBook;
  readonly owners: OwnerRules;
  /** The billing policy is the first. */
  readonly policies: readonly [ConfiguredPolicy, ...ConfiguredPolicy[]];
  readonly energy: EnergyFactors | undefined;
  readonly serving: ServingRules;
  /** Without Kubernetes, a slot ends if it has no sample for this many milliseconds. */
  readonly absentAfterMillis: number;
  readonly closing: {
    readonly day: number;
    readonly latenessMillis: number;
    /** Absent if one account is the whole fleet. */
    readonly accounts: Accounts | undefined;
  };
}

/**
 * Returns the ledger of a valid configuration. It is built where it is used, because a configuration itself is plain data. Throws a
 * TypeError if the schema did not read the configuration.
 */
export function ledgerOf(config: WrittenLedger): Ledger {
  const read = readBook(writtenBook(config));
  const owners = compileOwners(config);
  if ("problems" in read || "problems" in owners)
    throw new TypeError("a configuration that was not read by its schema");
  const { day, lateness, accounts } = config.closing;
  const longest = (config.store.rawDays - 1) * DAY_MILLIS;
  const latenessMillis = lateness ?? Math.min(DEFAULT_LATENESS_MILLIS, longest);
  return {
    book: isListPriced(config) ? { ...read.book, isList: true } : read.book,
    owners: owners.rules,
    policies: policiesOf(config.policies),
    energy: config.energy === undefined ? undefined : factorsOf(config.energy),
    serving: servingOf(config.serving),
    absentAfterMillis: config.absentAfter,
    closing: { day, latenessMillis, accounts },
  };
}

/** Returns the price book of a configuration as it was written, here or in its own file, or the list prices in its place. */
export function writtenBook(config: WrittenLedger): WrittenBook {
  const { pricesFile, currency: given = DEFAULT_CURRENCY } = config;
  return isListPriced(config)
    ? listBook({ currency: given, rates: config.rates })
    : (pricesFile ?? bookIn({ ...config, currency: given }));
}

/** Returns whether a configuration has anything of a price book but rates of exchange. */
export function hasBook({ pricesFile, prices, markup, commitments, fixed }: WrittenLedger): boolean {
  return [pricesFile, prices, markup, commitments, fixed].some((part) => part !== undefined);
}

/**
 * Returns whether the list prices apply: where the configuration asks for them, has no book, and has rates if its currency is another one.
 */
function isListPriced(config: WrittenLedger): boolean {
  if (config.listPrices !== true || hasBook(config)) return false;
  return "book" in readBook(listBook({ currency: config.currency ?? DEFAULT_CURRENCY, rates: config.rates }));
}
