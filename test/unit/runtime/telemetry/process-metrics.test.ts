import { resourceUsage } from "node:process";
import { setTimeout } from "node:timers/promises";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { registerProcessMetrics } from "../../../../runtime/telemetry/process-metrics.ts";

test("a process tells of its memory, its processor and how long its event loop kept a scrape waiting", async () => {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const text = await registry.metrics();
  for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes"])
    expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
  const lags = registry.getMetricsAsArray().filter(({ name }) => name.startsWith("nodejs_eventloop_lag"));
  expect(lags.map(({ name }) => name)).toEqual(["nodejs_eventloop_lag_seconds"]);
});

test("it is not woken for that", async () => {
  registerProcessMetrics(new Registry());
  // The library's own timer wakes it a hundred times a second, always; what else there is, as tests that ended, is over soon.
  const wokenWithin = async (): Promise<number> => {
    const before = resourceUsage().voluntaryContextSwitches;
    await setTimeout(500);
    return resourceUsage().voluntaryContextSwitches - before;
  };
  await expect.poll(wokenWithin, { timeout: 10_000 }).toBeLessThan(30);
}, 15_000);
