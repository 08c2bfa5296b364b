import { troublesOfNode } from "../../domain/fleet/trouble.ts";
import { UNUSED_BELOW } from "../../domain/fleet/use.ts";
import type { CostPerHour } from "./cost-per-hour.ts";
import type { LastUse } from "./idle-since.ts";
import type { LiveFleet, LiveGpu } from "./live-gpus.ts";

/** The states of a GPU now. */
export const GPU_STATES = ["active", "idle", "free", "sick", "silent"] as const;

/** See {@link GPU_STATES}. */
export type GpuState = (typeof GPU_STATES)[number];

/** A GPU of the map, with the data that its sample does not have. */
export interface MapGpu extends LiveGpu {
  readonly pool: string;
  /** The faults of the GPU and of its node. */
  readonly faults: readonly string[];
  /** The mean cost of an hour in the last charged day; undefined if it was not charged. */
  readonly costPerHour: number | undefined;
  /** Since when the GPU is not used, milliseconds since the epoch; undefined if it is used, or if its activity is not measured. */
  readonly idleSince: number | undefined;
}

/** Returns the state of a GPU with a sample. */
export function stateOf({ faults, holder, activityRatio }: MapGpu): Exclude<GpuState, "silent"> {
  if (faults.length > 0) return "sick";
  if (holder === undefined) return "free";
  return activityRatio !== undefined && activityRatio < UNUSED_BELOW ? "idle" : "active";
}

/** Adds the data of nodes and charges to the GPUs. A GPU that is used now is not idle. */
export function mapGpus({
  fleet,
  costs,
  uses,
}: {
  readonly fleet: LiveFleet;
  readonly costs: readonly CostPerHour[];
  readonly uses: readonly LastUse[];
}): readonly MapGpu[] {
  const nodes = new Map(fleet.nodes.map((node) => [keyOf(node.cluster, node.node), node]));
  const costOf = new Map(costs.map(({ cluster, node, gpu, cost }) => [keyOf(cluster, node, gpu), cost]));
  const useOf = new Map(
    uses.map(({ cluster, node, device, instance, at }) => [keyOf(cluster, node, device, instance), at]),
  );
  return fleet.gpus.map((gpu) => {
    const { cluster, node: name, activityRatio, holder } = gpu;
    const node = nodes.get(keyOf(cluster, name));
    const used = useOf.get(keyOf(cluster, name, gpu.device, gpu.instance));
    const isIdle = activityRatio !== undefined && activityRatio < UNUSED_BELOW;
    const begin = Math.max(used ?? -Infinity, holder?.workload?.sinceMillis ?? -Infinity);
    return {
      ...gpu,
      pool: node?.pool ?? "",
      faults: [...gpu.troubles, ...(node === undefined ? [] : troublesOfNode(node).map(({ text }) => text))],
      costPerHour: costOf.get(keyOf(cluster, name, gpu.gpu)),
      idleSince: isIdle && Number.isFinite(begin) ? begin : undefined,
    };
  });
}

function keyOf(...parts: readonly string[]): string {
  return parts.join("/");
}
