import { h } from "preact";
import { render } from "preact-render-to-string";
import { expect, it } from "vitest";
import { Figures } from "../../../../reports/parts/figures.tsx";
import type { Report } from "../../../../reports/report/report.ts";

const question = {
  policy: "default",
  kind: "showback",
  span: { name: "today", from: 0, until: 1 },
  where: [],
} as const;

/** The figures of a fleet that has cost 100, of which 0.01 is known to be active. */
function figuresWith(coverage: string | null): string {
  const total = {
    cost: "100",
    gpuHours: "50",
    change: null,
    before: null,
    states: { active: "0.01", idle: "0.02" },
    costPerHeldGpuHour: "2",
    costPerActiveGpuHour: "9070.99",
    coverage,
    unpricedGpuHours: "0",
  };
  const report = { total, currency: "USD", comparedWith: null } as unknown as Report;
  return render(h(Figures, { report, question })).replaceAll(/<[^>]*>/g, "");
}

it.each([
  ["0.499999", false],
  [null, false],
  ["0.5", true],
])("with a coverage of %s, ratios of observed states are shown: %s", (coverage, isShown) => {
  const text = figuresWith(coverage);
  expect(text.includes("9,070.99 per active GPU-hour")).toBe(isShown);
  expect(text.includes("0.0 % of the cost")).toBe(isShown);
  expect(text.split("most of the held time is not observed yet")).toHaveLength(isShown ? 1 : 3);
  expect(text).toContain("100.00");
});
