import type { VNode } from "preact";
import { groupedBy } from "../../../domain/grouped.ts";
import type { Report } from "../../report/report.ts";
import { StackChart } from "./stack.tsx";

const COLORS = ["--active", "--idle", "--other", "--unobserved", "--waiting", "--gone"] as const;
const OTHERS = "other teams";

/** The cost of each day by team, from a report by `chargeDay` and `team`. Teams without a color of their own are one part. */
export function TeamsChart({ byDay }: { readonly byDay: Report }): VNode {
  const costs = byDay.rows.map(({ dimensions, cost }) => ({
    day: dimensions["chargeDay"]!,
    team: dimensions["team"]!,
    cost: Number(cost),
  }));
  const sumOf = (rows: readonly { readonly cost: number }[]): number => rows.reduce((sum, { cost }) => sum + cost, 0);
  const teams = [...groupedBy(costs, ({ team }) => team)]
    .toSorted(([, a], [, b]) => sumOf(b) - sumOf(a))
    .map(([team]) => team);
  const own = teams.slice(0, COLORS.length);
  const parts = [
    ...own.map((name, index) => ({ name, color: `var(${COLORS[index]!})` })),
    ...(teams.length > own.length ? [{ name: OTHERS, color: "var(--free)" }] : []),
  ];
  const columns = [...groupedBy(costs, ({ day }) => day)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, rows]) => {
      const byPart = groupedBy(rows, ({ team }) => (own.includes(team) ? team : OTHERS));
      return {
        name: day.slice(5),
        costs: Object.fromEntries([...byPart].map(([name, ofPart]) => [name, String(sumOf(ofPart))])),
      };
    });
  return <StackChart columns={columns} parts={parts} label={`Cost by day and team in ${byDay.currency}.`} />;
}
