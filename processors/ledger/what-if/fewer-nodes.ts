import type { UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { GpuAt } from "../../../domain/share/layout.ts";
import type { NodeChange } from "../../../runtime/config/what-if.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { isNode, nodeKey } from "./node-match.ts";

/** Selects each node of a span, the one with the least held GPU-time first, with its last machine and GPU. */
const NODES = `
SELECT cluster, node, argMax(place, from_at) AS machine, argMax(gpu_at, from_at) AS gpu,
  sum(if(empty(holders), 0, toUnixTimestamp64Milli(until_at) - toUnixTimestamp64Milli(from_at))) AS held
FROM usage_hours_published
WHERE from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
GROUP BY cluster, node
ORDER BY held, cluster, node`;

/**
 * Returns whether a node is among those that changes remove: of the nodes that match a change, the requested number with the least held
 * GPU-time in the span. Fails with a `StoreError`.
 */
export async function nodesToRemove(
  store: StoreClient,
  changes: readonly NodeChange[],
  { from, until }: { readonly from: number; readonly until: number },
): Promise<(cluster: string, node: string) => boolean> {
  const removed = new Set<string>();
  if (changes.length === 0) return () => false;
  const nodes = await store.query<{ cluster: string; node: string; machine: string; gpu: string }>(NODES, {
    from,
    until,
  });
  for (const { where, nodes: count } of changes) {
    const fitting = nodes.filter(({ cluster, node, machine, gpu }) => {
      const of = { machine: JSON.parse(machine) as UsageMachine, gpu: JSON.parse(gpu) as GpuAt };
      return isNode(where, { cluster, node, ...of });
    });
    for (const { cluster, node } of fitting.slice(0, count)) removed.add(nodeKey(cluster, node));
  }
  return (cluster, node) => removed.has(nodeKey(cluster, node));
}
