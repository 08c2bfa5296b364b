import type { VNode } from "preact";
import { groupedBy } from "../../../domain/grouped.ts";
import type { ServingReport, ServingRow } from "../../serving/read-serving.ts";
import { AXIS, Chart } from "./chart.tsx";
import { Legend } from "./legend.tsx";

const COLORS = ["--active", "--idle", "--other", "--unobserved", "--waiting", "--gone"] as const;

/** The cost of a million tokens of each day as a line for each model, from a report by `chargeDay` and `model`: the models with the highest cost. */
export function TokenCostsChart({ byDay }: { readonly byDay: ServingReport }): VNode | null {
  const rows = byDay.rows.filter(({ unitCosts }) => unitCosts.millionTokens.loaded !== null);
  const days = [...new Set(rows.map(({ dimensions }) => dimensions.chargeDay!))].toSorted();
  if (days.length < 2) return null;
  const costOf = (ofModel: readonly ServingRow[]): number => ofModel.reduce((sum, { cost }) => sum + Number(cost), 0);
  const lines = [...groupedBy(rows, ({ dimensions }) => dimensions.model!)]
    .toSorted(([, a], [, b]) => costOf(b) - costOf(a))
    .slice(0, COLORS.length)
    .map(([name, ofModel], index) => {
      const byName = new Map(ofModel.map((row) => [row.dimensions.chargeDay, row.unitCosts.millionTokens.loaded]));
      return {
        name: name === "" ? "no model" : name,
        color: `var(${COLORS[index]!})`,
        values: days.map((day) => (byName.has(day) ? Number(byName.get(day)) : null)),
      };
    });
  const option = {
    grid: { left: 64, right: 12, top: 12, bottom: 26 },
    xAxis: { type: "category", data: days.map((day) => day.slice(5)), ...AXIS },
    yAxis: { type: "value", min: 0, splitNumber: 3, ...AXIS },
    series: lines.map(({ values, color }) => ({
      type: "line",
      silent: true,
      symbol: "circle",
      symbolSize: 5,
      connectNulls: false,
      lineStyle: { color, width: 1.5 },
      itemStyle: { color },
      data: values,
    })),
  };
  return (
    <>
      <h2>Cost of a million tokens, day by day</h2>
      <Chart option={option} label={`Cost of a million tokens by day and model in ${byDay.currency}.`} height={180} />
      <Legend parts={lines} />
    </>
  );
}
