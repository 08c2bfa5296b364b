import type { VNode } from "preact";
import { CHARGE_STATES, type ChargeState } from "../../../domain/charge/charge.ts";
import type { Report } from "../../report/report.ts";
import { StackChart } from "./stack.tsx";

/** The color of each state from the page's style. Related states have the same color; words distinguish them. */
const COLORS: Readonly<Record<ChargeState, string>> = {
  active: "var(--active)",
  idle: "var(--idle)",
  waiting: "var(--waiting)",
  starting: "var(--waiting)",
  unobserved: "var(--unobserved)",
  unavailable: "var(--gone)",
  stranded: "var(--free)",
  unallocated: "var(--free)",
  "non-gpu": "var(--other)",
  "unused commitment": "var(--other)",
  markup: "var(--other)",
  "true-up": "var(--other)",
  invoice: "var(--other)",
};

/** The cost of each day by state, from a report by `chargeDay`. */
export function DaysChart({ byDay }: { readonly byDay: Report }): VNode {
  const columns = byDay.rows
    .map(({ dimensions, states }) => ({ day: dimensions["chargeDay"]!, states }))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
    .map(({ day, states }) => ({ name: day.slice(5), costs: states }));
  const parts = CHARGE_STATES.map((name) => ({ name, color: COLORS[name] }));
  const label = `Cost by day and state of the GPUs in ${byDay.currency}.`;
  return <StackChart columns={columns} parts={parts} label={label} />;
}
