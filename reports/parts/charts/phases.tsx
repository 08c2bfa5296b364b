import type { VNode } from "preact";
import { PHASES, type Phase } from "../../../domain/serving/split-rule.ts";
import type { ServingReport } from "../../serving/read-serving.ts";
import { StackChart } from "./stack.tsx";

/** The color of each phase from the page's style. */
const COLORS: Readonly<Record<Phase, string>> = {
  prefill: "var(--active)",
  decode: "var(--waiting)",
  inference: "var(--other)",
  idle: "var(--idle)",
  starting: "var(--free)",
  unmeasured: "var(--unobserved)",
};

/** The cost of serving of each day by phase, from a report by `chargeDay`. */
export function PhasesChart({ byDay }: { readonly byDay: ServingReport }): VNode {
  const columns = byDay.rows
    .map(({ dimensions, phases }) => ({ day: dimensions.chargeDay!, phases }))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
    .map(({ day, phases }) => ({ name: day.slice(5), costs: phases }));
  const parts = PHASES.map((name) => ({ name, color: COLORS[name] }));
  return <StackChart columns={columns} parts={parts} label={`Cost by day and phase in ${byDay.currency}.`} />;
}
