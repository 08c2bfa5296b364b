import pino from "pino";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { ownNodes, startLivePods } from "../../../cli/roles/live-pods.ts";
import { createLivePods } from "../../../processors/live/pods.ts";
import { ledgerOf } from "../../../runtime/config/ledger.ts";
import { parseConfig } from "../../../runtime/config/load.ts";
import { createMetrics } from "../../../runtime/telemetry/metrics.ts";
import { inventoryFact, NOON, workloadFact } from "../../support/facts.ts";
import { ownerRules } from "../../support/owner-rules.ts";

const PARTITIONS = 8;
const { book } = ledgerOf(
  parseConfig('prices: [{ from: 2026-01-01, match: {}, per: gpu-hour, list: "2.50" }]', {
    source: "test",
    folder: ".",
    env: {},
  }),
);

/** The series of a processor that has some partitions and knows of twenty nodes, each with a pod. */
async function seriesOf(assigned: readonly number[], withMoney = true): Promise<readonly string[]> {
  const pods = createLivePods(ownerRules({ team: [{ podLabel: "team" }] }), "max", () => NOON);
  for (let index = 0; index < 20; index++) {
    pods.inventory(inventoryFact({ node: `node-${index}`, uid: `node-${index}` }));
    pods.workload(workloadFact({ node: `node-${index}`, uid: `pod-${index}`, name: `train-${index}` }));
  }
  const registry = new Registry();
  const isOwn = ownNodes(() => new Set(assigned), PARTITIONS);
  const [metrics, logger] = [createMetrics(registry), pino({ level: "silent" })];
  const live = startLivePods({ pods, isOwn, book, withMoney, metrics, logger, now: () => NOON });
  const text = await registry.metrics();
  await live.stop();
  return text.split("\n").filter((line) => /^gpu_(workload|node)_/.test(line));
}

describe("the series that alerts join with", () => {
  it("stand once for each pod and node, whoever has its partition", async () => {
    const [first, second] = [await seriesOf([0, 1, 2, 5]), await seriesOf([3, 4, 6, 7])];
    expect(first.length).toBeGreaterThan(0);
    expect(second.length).toBeGreaterThan(0);
    const all = [...first, ...second];
    expect(all.toSorted()).toEqual([...(await seriesOf([0, 1, 2, 3, 4, 5, 6, 7]))].toSorted());
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter((line) => line.startsWith("gpu_workload_info{"))).toHaveLength(20);
  });

  it("are none without a partition", async () => {
    expect(await seriesOf([])).toEqual([]);
  });

  it("name what a pod costs by the hour, and no money where it is not wanted", async () => {
    const all = Array.from({ length: PARTITIONS }, (_, index) => index);
    const cost = 'gpu_workload_cost_per_hour{cluster="test",namespace="ml",pod="train-7",currency="USD"} 2.5';
    expect(await seriesOf(all)).toContain(cost);
    expect((await seriesOf(all, false)).filter((line) => line.includes("cost_per_hour"))).toEqual([]);
  });
});
