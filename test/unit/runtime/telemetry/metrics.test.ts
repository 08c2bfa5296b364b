import { readFileSync } from "node:fs";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createMetrics, METRIC_DEFINITIONS } from "../../../../runtime/telemetry/metrics.ts";
import { createRate } from "../../../../runtime/telemetry/rate.ts";

describe("the program's own metrics", () => {
  it("are exported as the table defines them, without any others", async () => {
    const registry = new Registry();
    createMetrics(registry);
    const exported = await registry.getMetricsAsJSON();
    expect(exported.map(({ name, help, type }) => ({ name, help, type: String(type) }))).toEqual(
      Object.values(METRIC_DEFINITIONS).map(({ name, help, type }) => ({ name, help, type })),
    );
  });

  it("are in docs/metrics.md, which `npm run generate` writes", () => {
    const documented = [...readFileSync("docs/metrics.md", "utf8").matchAll(/^- `(\w+)` \((\w+)(.*?)\): (.*)$/gm)];
    expect(documented.map(([, name, type, , help]) => ({ name, type, help }))).toEqual(
      Object.values(METRIC_DEFINITIONS).map(({ name, type, help }) => ({ name, type, help })),
    );
  });
});

describe("a rate", () => {
  it("is the growth over the window, and 0 before there is one", () => {
    const rate = createRate(10_000);
    expect(rate.perSecond()).toBe(0);
    rate.observe(100, 0);
    expect(rate.perSecond()).toBe(0);
    rate.observe(600, 5_000);
    expect(rate.perSecond()).toBe(100);
    rate.observe(700, 14_000);
    expect(rate.perSecond()).toBeCloseTo(100 / 9, 10);
  });
});
