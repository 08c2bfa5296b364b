import pino from "pino";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { ownNodes, startLivePods } from "../../../services/live-pods.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import { createGpuPrices } from "../../../processors/live/gpu-price.ts";
import { createLivePods, type LivePods } from "../../../processors/live/pods.ts";
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

const createPods = (): LivePods => createLivePods(ownerRules({ team: [{ podLabel: "team" }] }), "max", () => NOON);
const ALL = Array.from({ length: PARTITIONS }, (_, index) => index);

/** The series of a processor that has some partitions, and the facts of twenty nodes with a pod each. */
function seriesOf(assigned: readonly number[], withMoney = true): Promise<readonly string[]> {
  const pods = createPods();
  for (let index = 0; index < 20; index++) {
    pods.inventory(inventoryFact({ node: `node-${index}`, uid: `node-${index}` }));
    pods.workload(workloadFact({ node: `node-${index}`, uid: `pod-${index}`, name: `train-${index}` }));
  }
  return seriesOfPods(pods, assigned, withMoney);
}

async function seriesOfPods(pods: LivePods, assigned: readonly number[], withMoney = true): Promise<readonly string[]> {
  const registry = new Registry();
  const isOwn = ownNodes(() => new Set(assigned), PARTITIONS);
  const [metrics, logger] = [createMetrics(registry), pino({ level: "silent" })];
  const prices = createGpuPrices(book, (_, error) => {
    throw error;
  });
  const priceOf = withMoney ? prices : undefined;
  const live = startLivePods({ pods, isOwn, priceOf, currency: book.currency, metrics, logger, now: () => NOON });
  const text = await registry.metrics();
  await live.stop();
  return text.split("\n").filter((line) => /^gpu_(workload|node|ledger_nodes_counted)/.test(line));
}

describe("the series that alerts join with", () => {
  it("appear once for each pod and node, whichever processor has its partition", async () => {
    const [first, second] = [await seriesOf([0, 1, 2, 5]), await seriesOf([3, 4, 6, 7])];
    expect(first.length).toBeGreaterThan(0);
    expect(second.length).toBeGreaterThan(0);
    const all = [...first, ...second];
    expect(all.toSorted()).toEqual([...(await seriesOf([0, 1, 2, 3, 4, 5, 6, 7]))].toSorted());
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter((line) => line.startsWith("gpu_workload_info{"))).toHaveLength(20);
  });

  it("have nodes with the source of their GPU count, and whether something contradicts it", async () => {
    const pods = createPods();
    const [kind] = inventoryFact().gpus;
    const put = (node: string, given: Partial<NodeGpus>): void =>
      pods.inventory(inventoryFact({ node, uid: node, gpus: [{ ...kind!, ...given }] }));
    put("a", { countedBy: "label" });
    put("b", { countedBy: "label", otherCount: { by: "instance-type", count: 4 } });
    put("c", { countedBy: "capacity", offered: 8 });
    put("d", { countedBy: "label", count: 1 });
    pods.show("test", "d", 2);
    const counted = (await seriesOfPods(pods, ALL)).filter((line) => line.startsWith("gpu_ledger_nodes_counted"));
    expect(counted.toSorted()).toEqual([
      'gpu_ledger_nodes_counted{cluster="test",counted_by="capacity",contradicted="false"} 1',
      'gpu_ledger_nodes_counted{cluster="test",counted_by="label",contradicted="false"} 1',
      'gpu_ledger_nodes_counted{cluster="test",counted_by="label",contradicted="true"} 1',
      'gpu_ledger_nodes_counted{cluster="test",counted_by="samples",contradicted="true"} 1',
    ]);
  });

  it("are absent without a partition", async () => {
    expect(await seriesOf([])).toEqual([]);
  });

  it("have the cost of a pod per hour, and no money if it is not configured", async () => {
    const cost = 'gpu_workload_cost_per_hour{cluster="test",namespace="ml",pod="train-7",currency="USD"} 2.5';
    expect(await seriesOf(ALL)).toContain(cost);
    expect((await seriesOf(ALL, false)).filter((line) => line.includes("cost_per_hour"))).toEqual([]);
  });
});
