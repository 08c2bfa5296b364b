import { createHash } from "node:crypto";
import type { Policy } from "../domain/policy/policy.ts";
import { ledgerRules, type LedgerRules } from "../processors/ledger/hours/rules.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";

/** How a configuration charges, and by what its hours are told to have been charged. */
export interface ConfiguredRules {
  readonly rules: LedgerRules;
  /** The kept policies, the billing one first. */
  readonly policies: readonly [Policy, ...Policy[]];
  /** The version of the price book: SHA-256 of all that it says. */
  readonly priceBookHash: string;
}

/** The rules of a configuration: equal in every process that has the same one. */
export function rulesOfConfig(config: Config): ConfiguredRules {
  const { book, owners, policies, energy, absentAfterMillis } = ledgerOf(config);
  const { currency, prices, rates, markup, commitments, fixed, pricesFile, ownersFile, register } = config;
  const written = JSON.stringify([currency, prices, rates, markup, commitments, fixed, pricesFile]);
  const [billing, ...others] = policies;
  const kept = [billing, ...others.filter(({ keep }) => keep)] as const;
  const owned = JSON.stringify([ownersFile, register, config.owners, config.energy]);
  return {
    rules: ledgerRules(
      { book, owners, policies: kept, energy },
      `${written}\n${owned}`,
      JSON.stringify(config.policies),
      absentAfterMillis,
    ),
    policies: kept,
    priceBookHash: createHash("sha256").update(written).digest("hex"),
  };
}
