import type { Policy } from "../../../domain/policy/policy.ts";
import { formatAmount } from "../../../domain/exact/units.ts";
import type { FrozenRuns } from "../closed/freeze.ts";
import type { InvoicedKind } from "./invoiced.ts";
import type { Totals } from "./statement.ts";

/** The document of a closing, as it is stored and hashed. Amounts are exact decimal texts. */
export interface ClosingDocument {
  readonly format: "gpu-ledger closing 1";
  readonly billingPeriod: string;
  /** ISO 8601. */
  readonly closedAt: string;
  readonly closedBy: string;
  readonly why: string;
  readonly currency: string;
  /** The kept policies, the billing policy first. */
  readonly policies: readonly Policy[];
  /** Versions of the price book and of all rules: SHA-256 of their content. */
  readonly priceBook: string;
  readonly rules: string;
  readonly runs: FrozenRuns;
  readonly total: Totals;
  /** Effective cost without an owner. */
  readonly unowned: string;
  readonly invoice: readonly InvoicedDocument[];
  readonly statements: readonly ClosedStatement[];
}

/** A statement as listed in its closing. */
export interface ClosedStatement {
  readonly team: string;
  readonly costCenter: string;
  readonly effective: string;
  readonly posted: string;
  readonly gpuHours: string;
  /** SHA-256 of the statement; empty in a dry run, which stores no statements. */
  readonly hash: string;
}

/** The invoiced and the computed amount for machines of a kind. */
export interface InvoicedDocument {
  readonly account: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly invoiced: string;
  readonly computed: string;
  readonly difference: string;
}

/** Returns a compared invoice in the form in which it is stored. */
export function invoiceDocument(kinds: readonly InvoicedKind[]): readonly InvoicedDocument[] {
  return kinds.map(({ account, instanceType, capacityType, invoiced, computed, difference }) => ({
    account,
    instanceType,
    capacityType,
    invoiced: formatAmount(invoiced),
    computed: formatAmount(computed),
    difference: formatAmount(difference),
  }));
}

/** A difference to an earlier close or dry run of the same period. */
export interface Difference {
  /** `total effective`, or `vision/4711 posted`. */
  readonly what: string;
  /** Empty if the value did not exist. */
  readonly before: string;
  readonly now: string;
}

const TOTALS = ["effective", "posted", "gpuHours", "unpricedGpuHours", "coverage", "corrections", "trueUp"] as const;

/** Returns the differences between two documents of one period, in totals and statements; empty if they are equal. */
export function differencesBetween(before: ClosingDocument, now: ClosingDocument): readonly Difference[] {
  const totals = TOTALS.map((name) => ({
    what: `total ${name}`,
    before: before.total[name] ?? "",
    now: now.total[name] ?? "",
  }));
  const rules = [
    { what: "rules", before: before.rules, now: now.rules },
    { what: "price book", before: before.priceBook, now: now.priceBook },
    { what: "unowned", before: before.unowned, now: now.unowned },
  ];
  const [old, current] = [byPayer(before), byPayer(now)];
  const statements = [...new Set([...old.keys(), ...current.keys()])].toSorted().flatMap((payer) =>
    (["effective", "posted", "gpuHours"] as const).map((name) => ({
      what: `${payer} ${name}`,
      before: old.get(payer)?.[name] ?? "",
      now: current.get(payer)?.[name] ?? "",
    })),
  );
  return [...totals, ...rules, ...statements].filter((one) => one.before !== one.now);
}

function byPayer({ statements }: ClosingDocument): ReadonlyMap<string, ClosedStatement> {
  return new Map(statements.map((statement) => [payerName(statement), statement]));
}

/** Returns a team and cost center as a map key. */
export function payerKey({ team, costCenter }: { readonly team: string; readonly costCenter: string }): string {
  return JSON.stringify([team, costCenter]);
}

/** Returns the name of a team, with its cost center if it has one. */
export function payerName({ team, costCenter }: { readonly team: string; readonly costCenter: string }): string {
  return costCenter === "" ? team : `${team}/${costCenter}`;
}
