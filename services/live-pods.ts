import type { Logger } from "pino";
import { sampleKey } from "../domain/messages/scrape-message.ts";
import { inventoryKey } from "../domain/messages/fact-message.ts";
import { countOf } from "../domain/share/node-gpus.ts";
import { asNumber, type createGpuPrices } from "../processors/live/gpu-price.ts";
import type { IsOwn, LivePods } from "../processors/live/pods.ts";
import { partitionOf } from "../runtime/bus/partitioner.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";

/** The interval of updates. Pods begin and end, and alerts about them wait for minutes. */
const REFRESH_MILLIS = 15_000;

/** Returns a check whether the scrapes of a node come to this processor: whether its partition is assigned. */
export function ownNodes(assigned: () => ReadonlySet<number>, partitions: number): IsOwn {
  return (cluster, node) => assigned().has(partitionOf(sampleKey({ cluster, node }), partitions));
}

/**
 * Sets the series with which alerts join, repeatedly. They are only of the pods and nodes of this processor's partitions, so that each
 * exists once among all processors. Money is left out if it is not wanted.
 */
export function startLivePods(options: {
  readonly pods: LivePods;
  readonly isOwn: IsOwn;
  /** Absent if money is not wanted. */
  readonly priceOf: ReturnType<typeof createGpuPrices> | undefined;
  readonly currency: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}): Repeated {
  const { pods, isOwn, priceOf, currency, metrics, logger, now } = options;

  function look(): void {
    const nodes = pods.nodes(isOwn);
    const at = now();
    const prices = new Map(nodes.map((node) => [inventoryKey(node), priceOf?.(node, node.gpus[0]?.model, at).perHour]));
    metrics.nodeInventory.reset();
    metrics.nodesCounted.reset();
    for (const { cluster, node, gpus } of nodes) {
      metrics.nodeInventory.set({ cluster, node }, countOf(gpus));
      const [{ countedBy } = {}] = gpus;
      const isContradicted = gpus.some(({ otherCount }) => otherCount !== undefined);
      if (countedBy !== undefined)
        metrics.nodesCounted.inc({ cluster, counted_by: countedBy, contradicted: String(isContradicted) });
    }
    metrics.workloadInfo.reset();
    metrics.workloadCost.reset();
    for (const pod of pods.pods(isOwn)) {
      const { cluster, namespace, name, uid, team, workload, queue } = pod;
      const labels = { cluster, namespace, pod: name };
      metrics.workloadInfo.set(
        { ...labels, uid, team, cost_centre: pod.costCenter, workload, workload_type: pod.type, queue },
        1,
      );
      const price = prices.get(inventoryKey(pod));
      if (price === undefined) continue;
      metrics.workloadCost.set({ ...labels, currency }, asNumber(price, pod.gpus));
    }
  }

  return repeat(REFRESH_MILLIS, look, (error) => {
    metrics.liveFailures.inc({ view: "pods" });
    logger.error({ err: error }, "the series of pods and nodes cannot be written");
  });
}
