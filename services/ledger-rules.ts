import { createHash } from "node:crypto";
import type { SourceRules } from "../domain/invoice/rules.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { CloseSetting } from "../processors/ledger/closing/close.ts";
import { ledgerRules, type LedgerRules } from "../processors/ledger/charging/rules.ts";
import { ledgerOf, writtenBook } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";

/** The charging rules of a configuration, and the versions that charges record. */
export interface ConfiguredRules {
  readonly rules: LedgerRules;
  /** The kept policies, the billing policy first. */
  readonly policies: readonly [Policy, ...Policy[]];
  /** The version of the price book: SHA-256 of its content. */
  readonly priceBookHash: string;
}

/** Returns the settings by which a configuration closes periods. */
export function closeSettingOf(config: Config): CloseSetting {
  const { closing } = ledgerOf(config);
  return { ...rulesOfConfig(config), closingDay: closing.day, accounts: closing.accounts };
}

/** Returns the rules of a configuration. Processes with the same configuration get equal rules. */
export function rulesOfConfig(config: Config): ConfiguredRules {
  const { book, owners, policies, energy, serving, absentAfterMillis } = ledgerOf(config);
  const { currency, prices, rates, markup, commitments, fixed, pricesFile, ownersFile, register } = config;
  const ofBook = book.isList === true ? writtenBook(config) : pricesFile;
  const written = JSON.stringify([currency, prices, rates, markup, commitments, fixed, ofBook]);
  const [billing, ...others] = policies;
  const kept = [billing, ...others.filter(({ keep }) => keep)] as const;
  const owned = JSON.stringify([ownersFile, register, config.owners, config.energy]);
  return {
    rules: ledgerRules(
      { book, owners, policies: kept, energy, serving, invoices: sourceRulesOf(config) },
      `${written}\n${owned}`,
      JSON.stringify([config.policies, config.serving, ...(config.invoices.length > 0 ? ["invoices"] : [])]),
      absentAfterMillis,
    ),
    policies: kept,
    priceBookHash: createHash("sha256").update(written).digest("hex"),
  };
}

/** Returns how the lines of each source of exports become costs; undefined without a source. */
function sourceRulesOf({ invoices }: Config): readonly SourceRules[] | undefined {
  return invoices.length === 0
    ? undefined
    : invoices.map(({ name, share, bookings, rates }) => ({ name, share, bookings, rates }));
}
