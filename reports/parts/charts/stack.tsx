import type { VNode } from "preact";
import { AXIS, Chart } from "./chart.tsx";
import { Legend } from "./legend.tsx";

/** A part of every column of a stack: its name, and its color from the page's style. */
export interface StackPart<Name extends string> {
  readonly name: Name;
  readonly color: string;
}

/** The costs of the parts at one time, with the text under the column: `14`. */
export interface StackColumn<Name extends string> {
  readonly name: string;
  readonly costs: Readonly<Partial<Record<Name, string>>>;
}

/** Columns of costs, stacked in the order of the parts, with a legend. Parts without a cost are left out. */
export function StackChart<Name extends string>({ columns, parts, label }: StackChartProps<Name>): VNode {
  const shown = parts.filter(({ name }) => columns.some(({ costs }) => costs[name] !== undefined));
  const option = {
    grid: { left: 64, right: 8, top: 12, bottom: 26 },
    xAxis: { type: "category", data: columns.map(({ name }) => name), ...AXIS },
    yAxis: { type: "value", ...AXIS },
    series: shown.map(({ name, color }) => ({
      type: "bar",
      stack: "cost",
      silent: true,
      barCategoryGap: "18%",
      barMaxWidth: 44,
      itemStyle: { color, borderColor: "var(--paper)", borderWidth: 0.5 },
      data: columns.map(({ costs }) => Number(costs[name] ?? "0")),
    })),
  };
  return (
    <>
      <Chart option={option} label={label} />
      <Legend parts={shown} />
    </>
  );
}

interface StackChartProps<Name extends string> {
  readonly columns: readonly StackColumn<Name>[];
  readonly parts: readonly StackPart<Name>[];
  readonly label: string;
}
