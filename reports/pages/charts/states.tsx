import type { VNode } from "preact";
import { CHARGE_STATES, type ChargeState } from "../../../domain/charge/charge.ts";
import type { Report } from "../../report/report.ts";
import { AXIS, Chart } from "./chart.tsx";

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
};

/** The cost of each state, as parts of a column for one time. */
interface StateColumn {
  /** The text under the column: `14`. */
  readonly name: string;
  readonly states: Readonly<Partial<Record<ChargeState, string>>>;
}

/** The cost of each day by state, from a report by `chargeDay`. */
export function DaysChart({ byDay }: { readonly byDay: Report }): VNode {
  const columns = byDay.rows
    .map(({ dimensions, states }) => ({ day: dimensions["chargeDay"]!, states }))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
    .map(({ day, states }) => ({ name: day.slice(5), states }));
  return <StatesChart columns={columns} label={`Cost by day and state of the GPUs in ${byDay.currency}.`} />;
}

/** Columns of cost by state, stacked in the order of states, with a legend. */
function StatesChart({ columns, label }: StatesChartProps): VNode {
  const shown = CHARGE_STATES.filter((state) => columns.some(({ states }) => states[state] !== undefined));
  const option = {
    grid: { left: 64, right: 8, top: 12, bottom: 26 },
    xAxis: { type: "category", data: columns.map(({ name }) => name), ...AXIS },
    yAxis: { type: "value", ...AXIS },
    series: shown.map((state) => ({
      type: "bar",
      stack: "cost",
      silent: true,
      barCategoryGap: "18%",
      barMaxWidth: 44,
      itemStyle: { color: COLORS[state], borderColor: "var(--paper)", borderWidth: 0.5 },
      data: columns.map(({ states }) => Number(states[state] ?? "0")),
    })),
  };
  return (
    <>
      <Chart option={option} label={label} />
      <ul class="key">
        {shown.map((state) => (
          <li>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" fill={COLORS[state]} />
            </svg>
            {state}
          </li>
        ))}
      </ul>
    </>
  );
}

interface StatesChartProps {
  readonly columns: readonly StateColumn[];
  readonly label: string;
}
