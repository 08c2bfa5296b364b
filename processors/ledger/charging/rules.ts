import { hasFleetCosts } from "../../../domain/price/fleet-costs.ts";
import { createHash } from "node:crypto";
import { DAY_MILLIS } from "../../../domain/time.ts";
import type { ChargeRules } from "./charge-window.ts";
import { knownDates, type KnownDates } from "../plan/known-dates.ts";

/** The rules for metering and charging hours, prepared for use on many hours. */
export interface LedgerRules {
  readonly charge: ChargeRules;
  readonly dates: KnownDates;
  /** A hash of all rules. If it differs, charges may differ. */
  readonly hash: string;
  /** A hash of prices and owners only. If it differs, closed charges may need corrections. */
  readonly booksHash: string;
  /** Without Kubernetes, a slot ends if it has no sample for this many milliseconds. */
  readonly absentAfterMillis: number;
  /** True if prices or exports can have costs that belong to no cluster. */
  readonly hasFleetCosts: boolean;
  /** True if exports of providers have costs. */
  readonly hasInvoices: boolean;
  /** True if the prices are public list prices, because there is no price book. */
  readonly isListPriced: boolean;
}

/** The default time without a sample after which a slot ends. */
export const ABSENT_AFTER_MILLIS = DAY_MILLIS;

/** Returns the rules of a configuration. `books` and `policies` are the configuration texts that the hashes cover. */
export function ledgerRules(
  charge: ChargeRules,
  books: string,
  policies = "",
  absentAfterMillis = ABSENT_AFTER_MILLIS,
): LedgerRules {
  return {
    charge,
    dates: knownDates(charge.book, charge.owners.changes, charge.energy),
    hash: sha256(`${books}\n${policies}`),
    booksHash: sha256(books),
    absentAfterMillis,
    hasFleetCosts: hasFleetCosts(charge.book) || charge.invoices !== undefined,
    hasInvoices: charge.invoices !== undefined,
    isListPriced: charge.book.isList === true,
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the basis of charges: the usage run, the hash of all rules, the hash of prices and owners, and the runs of serving and of exports, if any. */
export function basisOf(
  { usageRun, servingRun, invoiceRun }: Readonly<Record<"usageRun" | "servingRun" | "invoiceRun", string>>,
  { hash, booksHash }: Pick<LedgerRules, "hash" | "booksHash">,
): string {
  return `${usageRun} ${hash} ${booksHash} ${servingRun} ${invoiceRun}`.trimEnd();
}
