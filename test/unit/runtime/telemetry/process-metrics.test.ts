import { resourceUsage } from "node:process";
import { setTimeout } from "node:timers/promises";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { registerProcessMetrics } from "../../../../runtime/telemetry/process-metrics.ts";

test("a process exports its memory, its processor time and the delay of a scrape by its event loop", async () => {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const text = await registry.metrics();
  for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes"])
    expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
  const lags = registry.getMetricsAsArray().filter(({ name }) => name.startsWith("nodejs_eventloop_lag"));
  expect(lags.map(({ name }) => name)).toEqual(["nodejs_eventloop_lag_seconds"]);
});

test("these metrics do not wake the process", async () => {
  registerProcessMetrics(new Registry());
  // The library's own timer wakes the process a hundred times a second. Other timers, such as those of ended tests, are over soon.
  const wokenWithin = async (): Promise<number> => {
    const before = resourceUsage().voluntaryContextSwitches;
    await setTimeout(500);
    return resourceUsage().voluntaryContextSwitches - before;
  };
  await expect.poll(wokenWithin).toBeLessThan(30);
});
