import { afterAll, beforeAll, expect, it } from "vitest";
import { NO_METRICS } from "../../domain/training/metrics.ts";
import { formatAmount } from "../../domain/exact/units.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import { readRuns } from "../../reports/training/read-runs.ts";
import { readRunReports, runRulesOf } from "../../reports/training/read-reports.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { createTestDatabase } from "../support/database.ts";
import { workloadFact } from "../support/facts.ts";
import { insertWorkloads } from "../support/insert-facts.ts";

const START = Date.UTC(2026, 2, 1);
const HOURS = 30 * 24;
const PODS = 64;
const GPUS = 8;
/** Every 60 hours the gang fails, after 12 minutes of the hour it is back. */
const ATTEMPT_HOURS = 60;
const BACK_MILLIS = 12 * 60_000;
const { training } = parseConfig("{}", { source: "the test", folder: ".", env: {} });

/** The pods of all attempts. One pod of each fails at the end of the attempt, and the others are deleted. */
const FACTS = Array.from({ length: HOURS / ATTEMPT_HOURS }, (_, attempt) =>
  Array.from({ length: PODS }, (_, pod): WorkloadFact => {
    const from = START + attempt * ATTEMPT_HOURS * HOUR_MILLIS;
    const started = attempt === 0 ? from : from + BACK_MILLIS;
    const finished = START + (attempt + 1) * ATTEMPT_HOURS * HOUR_MILLIS;
    return workloadFact({
      uid: `uid-${attempt}-${pod}`,
      name: `train-${pod}`,
      node: `gpu-${pod}`,
      owners: [{ apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet", name: "train", uid: "set" }],
      workload: { kind: "JobSet", name: "train" },
      times: { created: from, scheduled: from, started, finished },
      phase: "Failed",
      endReason: pod === 0 ? "failed" : "deleted",
      seenAtMillis: finished,
    });
  }),
).flat();

let store: StoreClient;

beforeAll(async () => {
  store = await createTestDatabase("training_large");
  await insertWorkloads(store, FACTS);
  const run = "00000000-0000-0000-0000-0000000000a1";
  await store.command(`INSERT INTO runs (kind, cluster, window_start, window_end, run_id, generation, published_at)
    VALUES ('charge', 'test', fromUnixTimestamp64Milli(${START}), fromUnixTimestamp64Milli(${START + HOUR_MILLIS}), toUUID('${run}'), 1, now64(3))`);
  // A line of active and one of idle time for each GPU and hour: nine tenths and one tenth of an hour at 4.00.
  await store.command(`INSERT INTO charges (run_id, policy, billing_period, cluster, node, slot, from_at, until_at, gpu_model, state, payer, team,
      holder, namespace, pod, workload_kind, workload, workload_type, share_millis, gpu_hours, list_cost, contracted_cost, effective_cost, priced_since)
    SELECT toUUID('${run}'), 'default', toDate('2026-03-01'), 'test', concat('gpu-', toString(pod)), number % ${GPUS},
      fromUnixTimestamp64Milli(toInt64(${START} + hour * ${HOUR_MILLIS})), fromUnixTimestamp64Milli(toInt64(${START} + (hour + 1) * ${HOUR_MILLIS})),
      'NVIDIA-H100-80GB-HBM3', if(isActive, 'active', 'idle'), 'holder', 'vision',
      concat('uid-', toString(intDiv(hour, ${ATTEMPT_HOURS})), '-', toString(pod)), 'ml', concat('train-', toString(pod)), 'JobSet', 'train', 'training',
      '1/1', if(isActive, toDecimal128('0.9', 9), toDecimal128('0.1', 9)) AS hours, 4 * hours, 4 * hours, 4 * hours, fromUnixTimestamp64Milli(0)
    FROM (SELECT number, intDiv(number, ${GPUS}) % ${PODS} AS pod, intDiv(number, ${GPUS * PODS}) % ${HOURS} AS hour,
      number >= ${GPUS * PODS * HOURS} AS isActive FROM numbers(${2 * GPUS * PODS * HOURS}))`);
});
afterAll(() => store.close());

it("a run of 512 GPUs over 30 days is answered within seconds, and sums exactly", async () => {
  const begun = performance.now();
  const until = START + 30 * DAY_MILLIS;
  const runs = await readRuns(store, runRulesOf(training), { from: until - DAY_MILLIS, until });
  const [report, ...others] = await readRunReports(store, runs, {
    policy: "default",
    where: [],
    training,
    metrics: NO_METRICS,
    now: until,
  });
  const seconds = (performance.now() - begun) / 1000;
  expect(others).toEqual([]);
  // 512 GPUs × 720 h × 4.00. Of the 12 attempts 11 begin with 0.2 h of recovery.
  expect(formatAmount(report!.total.effective)).toBe(String(512 * 720 * 4));
  expect(report!.stops).toHaveLength(12);
  expect(formatAmount(report!.phases.get("recovering")!.effective)).toBe(String((11 * 512 * 4) / 5));
  // It takes seconds. Reading the facts once for each hour would take many minutes.
  expect(seconds).toBeLessThan(120);
  process.stdout.write(`a run of 512 GPUs over 30 days: ${seconds.toFixed(1)} s\n`);
});
