import type { ChargeState } from "../../domain/charge/charge.ts";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import type { Filter } from "../question/question.ts";
import type { ReportRow } from "../report/report.ts";
import { explained, hoursColumn, moneyColumn } from "./money.tsx";
import type { Column } from "./table.tsx";

/** The columns of states, in order. The states of each are disjoint and together all that charges have, so a row's columns sum to its cost. */
const COLUMNS = {
  active: ["active"],
  idle: ["idle"],
  waiting: ["waiting"],
  starting: ["starting"],
  unobserved: ["unobserved"],
  "not held": ["unavailable", "stranded", "unallocated", "non-gpu", "unused commitment"],
  adjusted: ["markup", "true-up", "invoice"],
} as const satisfies Readonly<Record<string, readonly ChargeState[]>>;

/**
 * Returns the columns of GPU-hours, of the cost, and of each state or group of states that any of the rows has. Amounts link to their explanations.
 *
 * @param explain returns the address of the explanation of a row's charges, and of all rows if there is no row
 */
export function chargeColumns(
  rows: readonly ReportRow[],
  currency: string,
  explain: (row?: ReportRow, more?: readonly Filter[]) => string,
): readonly Column<ReportRow>[] {
  const hours = hoursColumn(rows, ({ gpuHours }: ReportRow) => gpuHours);
  const cost = moneyColumn(rows, (row: ReportRow) => row.cost, currency);
  const states = Object.entries(COLUMNS).flatMap(([head, names]) => {
    const of = ({ states }: ReportRow): string | undefined => {
      const amounts = names.flatMap((name) => states[name] ?? []);
      return amounts.length === 0 ? undefined : formatAmount(sum(amounts.map((each) => amountOf<"currency">(each))));
    };
    if (rows.every((row) => of(row) === undefined)) return [];
    const column = moneyColumn(rows, of, currency);
    const linked = explained(column, (row) => explain(row, [{ dimension: "state", values: names }]));
    return [{ head, ...linked, cell: (row: ReportRow) => (of(row) === undefined ? column : linked).cell(row) }];
  });
  return [
    { head: "GPU-hours", ...explained(hours, (row) => explain(row)) },
    { head: "cost", ...explained(cost, (row) => explain(row)) },
    ...states,
  ];
}
