import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";
import { readScenario } from "../../scenarios/read.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createMetrics } from "../../runtime/telemetry/metrics.ts";
import type { LeaderJob } from "../../services/leader/jobs.ts";
import { servingMetricsJob } from "../../services/leader/serving-metrics.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario } from "../support/play-ledger.ts";
import { SERVED_FLEET, SERVED_PAGES, SERVED_START as START } from "../support/served-fleet.ts";
import { insertServing } from "../support/serving.ts";

let store: StoreClient;
beforeAll(async () => {
  store = await createTestDatabase("serving_metrics");
  await insertServing(store, "default", SERVED_PAGES);
  await playScenario(store, readScenario(SERVED_FLEET, "fleet"));
});
afterAll(() => store.close());

const registry = new Registry();
const metrics = createMetrics(registry);
const job = (hasMoney: boolean): LeaderJob =>
  servingMetricsJob({
    store,
    metrics,
    now: () => START + HOUR + 60_000,
    policy: "default",
    rule: "gpu-time",
    hasMoney,
  });

async function series(): Promise<readonly string[]> {
  const page = await registry.metrics();
  return page.split("\n").filter((line) => /^gpu_ledger_serving_\w+\{/.test(line));
}

const SERVICE = 'cluster="default",namespace="chat",workload="llm"';

it("the leader has the cost of a million tokens and the use of engines of the last ended hour", async () => {
  await job(true).work(new AbortController().signal);
  const of = (name: string, labels: string, value: string): string => `gpu_ledger_serving_${name}{${labels}} ${value}`;
  expect((await series()).toSorted()).toEqual(
    [
      // 7.20 for 0.132 million tokens, of which 3.60 while busy.
      of("cost_per_million_tokens", `${SERVICE},model="m",team="chat",cost="loaded"`, "54.54545454545455"),
      of("cost_per_million_tokens", `${SERVICE},model="m",team="chat",cost="busy"`, "27.272727272727273"),
      of("cost_per_hour", `${SERVICE},model="m",team="chat"`, "7.2"),
      of("engines", `${SERVICE},team="chat"`, "1"),
      of("idle_engines", `${SERVICE},team="chat"`, "0"),
      of("idle_ratio", `${SERVICE},team="chat"`, "0.5"),
      of("waiting_requests", `${SERVICE},team="chat"`, "0"),
    ].toSorted(),
  );
});

it("there is no money on metrics where the configuration does not allow it, and nothing of another processor", async () => {
  await job(false).work(new AbortController().signal);
  const shown = await series();
  expect(shown.some((line) => line.includes("cost"))).toBe(false);
  expect(shown).toHaveLength(4);
  job(false).clear?.();
  expect(await series()).toEqual([]);
});
