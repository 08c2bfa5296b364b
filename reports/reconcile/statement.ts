import { add, exactDecimal, exactOf, ZERO } from "../../domain/exact/rational.ts";
import type { AccountSums, Assigned, Reconciliation } from "./reconcile.ts";

/** A row of a statement: what a part of the cost is, and its exact amount. */
export interface StatementRow {
  readonly what: string;
  readonly amount: string;
}

/** The two statements of an account in a billing month. The rows of each sum to its total. */
export interface AccountStatement extends AccountSums {
  /** Where the effective cost went. */
  readonly effectiveRows: readonly StatementRow[];
  /** From the effective to the billed cost. */
  readonly billedRows: readonly StatementRow[];
}

/** Returns the statements of each account of a reconciled month. Throws an `Error` if the rows of one do not sum to its total. */
export function statementsOf({ accounts, assigned, rounding, bridge }: Reconciliation): readonly AccountStatement[] {
  return accounts.map((account) => {
    const isOf = (row: Pick<AccountSums, "source" | "account" | "currency">): boolean =>
      row.source === account.source && row.account === account.account && row.currency === account.currency;
    const rest = rounding.filter((row) => isOf(row) && row.amount !== "0");
    const effectiveRows = [
      ...assigned.filter(isOf).map((row) => ({ what: placeOf(row), amount: row.effective })),
      ...rest.map(({ amount }) => ({ what: restOf(amount, account.lines), amount })),
    ];
    const differences = bridge.filter((row) => isOf(row) && row.difference !== "0");
    const billedRows = [
      { what: "effective cost", amount: account.effective },
      ...differences.map((row) => ({
        what: `${KIND_WORDS[row.kind] ?? row.kind}${row.isOfCommitment ? ", by commitments" : ""}: billed less effective`,
        amount: row.difference,
      })),
    ];
    checkSum(effectiveRows, account.effective);
    checkSum(billedRows, account.billed);
    return { ...account, effectiveRows, billedRows };
  });
}

/** Returns what is left after all parts. Each cost is rounded to 10⁻⁹, so more than that for each line is of lines that wait. */
function restOf(amount: string, lines: string): string {
  const { num, den } = exactOf(amount);
  const isRounding = (num < 0n ? -num : num) * 1_000_000_000n <= BigInt(lines) * den;
  return isRounding ? "rounding to 10⁻⁹" : "not divided over hours yet";
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  "no-cluster": "machines that joined no cluster",
  outside: "machines outside their node's time",
  "unused-commitment": "unused commitment",
  machine: "machines",
};

function placeOf({ to, cluster, kind }: Assigned): string {
  const what = KIND_WORDS[kind] ?? kind;
  switch (to) {
    case "node":
      return `nodes of ${cluster}`;
    case "platform":
      return `the platform: ${what}`;
    case "none":
      return `not charged: ${what}`;
    case "waits":
      return `in hours without charges: ${what}`;
  }
}

function checkSum(rows: readonly StatementRow[], total: string): void {
  const sum = rows.map(({ amount }) => exactOf(amount)).reduce(add, ZERO);
  const wanted = exactOf(total);
  if (sum.num !== wanted.num || sum.den !== wanted.den)
    throw new Error(`a statement sums to ${exactDecimal(sum, 76)}, not ${total}`);
}
