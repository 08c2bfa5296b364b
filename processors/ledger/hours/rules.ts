import { createHash } from "node:crypto";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import { hasOwnedByMatch, listedMachines } from "../charge/absent-machines.ts";
import type { ChargeRules } from "../charging/charge-window.ts";
import { knownDates, type KnownDates } from "../plan/known-dates.ts";

/** By what hours are metered and charged, ready to be used for many of them. */
export interface LedgerRules {
  readonly charge: ChargeRules;
  readonly dates: KnownDates;
  /** Of all of it: where it differs, charges may. */
  readonly hash: string;
  /** Of prices and owners alone: where they differ, what is closed may have to be corrected. */
  readonly booksHash: string;
  /** Without Kubernetes a slot ends after so long without a sample. */
  readonly absentAfterMillis: number;
  /** Whether the prices know costs that are of no cluster. */
  readonly hasFleetCosts: boolean;
}

/** A slot is there for so long without a sample where nothing else is said. */
export const ABSENT_AFTER_MILLIS = 24 * HOUR_MILLIS;

/** The rules of a configuration, from all of its text that they are made of: the policies, and the rest. */
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
    hasFleetCosts: hasFleetCosts(charge.book),
  };
}

function hasFleetCosts(book: ChargeRules["book"]): boolean {
  const hasOwned = listedMachines(book).length > 0 || hasOwnedByMatch(book);
  return book.commitments.length + book.fixed.length > 0 || hasOwned;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What charges are made of: the usage run, the rules, and of those prices and owners. */
export function basisOf(usageRun: string, { hash, booksHash }: Pick<LedgerRules, "hash" | "booksHash">): string {
  return `${usageRun} ${hash} ${booksHash}`;
}
