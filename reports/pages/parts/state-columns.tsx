import type { ChargeState } from "../../../domain/charge/charge.ts";
import { amountOf, formatAmount, sum } from "../../../domain/exact/units.ts";
import type { Filter } from "../../question/question.ts";
import type { ReportRow } from "../../report/report.ts";
import { explained, moneyColumn } from "./money.tsx";
import type { Column } from "./table.tsx";

/** The columns of states, in order. The states of each are disjoint and together all that charges have, so a row's columns sum to its cost. */
const COLUMNS = {
  active: ["active"],
  idle: ["idle"],
  waiting: ["waiting"],
  starting: ["starting"],
  unobserved: ["unobserved"],
  "not held": ["unavailable", "stranded", "unallocated", "non-gpu", "unused commitment"],
  adjusted: ["markup", "true-up"],
} as const satisfies Readonly<Record<string, readonly ChargeState[]>>;

/**
 * Returns a column of money for each state, or group of states, that any of the rows has. Its amounts link to the explanation of the states' charges
 * of a row, and of all rows in the sum.
 */
export function stateColumns(
  rows: readonly ReportRow[],
  currency: string,
  explain: (row: ReportRow | undefined, more: readonly Filter[]) => string,
): readonly Column<ReportRow>[] {
  return Object.entries(COLUMNS).flatMap(([head, names]) => {
    const of = ({ states }: ReportRow): string | undefined => {
      const amounts = names.flatMap((name) => states[name] ?? []);
      return amounts.length === 0 ? undefined : formatAmount(sum(amounts.map((each) => amountOf<"currency">(each))));
    };
    if (rows.every((row) => of(row) === undefined)) return [];
    const column = moneyColumn(rows, of, currency);
    const linked = explained(column, (row) => explain(row, [{ dimension: "state", values: names }]));
    return [{ head, ...linked, cell: (row) => (of(row) === undefined ? column : linked).cell(row) }];
  });
}
