import type { PackedNodes } from "./change-rules.ts";
import { createNodeTimes, hourNumber } from "../../../domain/advice/packing/node-time.ts";
import { packNodes, type Packing } from "../../../domain/advice/packing/pack.ts";
import type { NodeChange } from "../../../runtime/config/what-if.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { ChangeRules } from "./change-rules.ts";
import { clustersWithUsage } from "../metering/clusters.ts";
import { readUsage } from "../metering/usage-rows.ts";
import { isNode, nodeKey } from "./node-match.ts";

const NOBODY: PackedNodes = { leaves: () => false, stays: () => false };

/**
 * Plans the changes that pack pods onto fewer nodes, over a span of whole hours. Of the nodes that match a change, the requested number leaves,
 * if there is room. Nodes that other changes remove take no pods. Fails with a `StoreError`.
 */
export async function planPacking(
  store: StoreClient,
  changes: readonly NodeChange[],
  {
    span,
    isRemoved,
  }: { readonly span: { readonly from: number; readonly until: number }; readonly isRemoved: ChangeRules["isRemoved"] },
): Promise<PackedNodes> {
  if (changes.length === 0) return NOBODY;
  const packings = new Map<string, Packing>();
  const missing = changes.map(({ nodes }) => nodes);
  const withoutRoom = changes.map(() => new Set<string>());
  for (const cluster of await clustersWithUsage(store, span)) {
    const times = createNodeTimes(span);
    for await (const rows of readUsage(store, cluster, span)) for (const row of rows) times.add(row);
    const nodes = [...times.nodes.values()].filter(({ row }) => !isRemoved(cluster, row.node));
    const wanted = changes.map(({ where }, index) => ({
      candidates: nodes.filter(({ row }) => isNode(where, { ...row, gpu: row.segment.gpu })),
      most: missing[index]!,
    }));
    const packing = packNodes(nodes, { wanted, hours: times.hours });
    packings.set(cluster, packing);
    for (const [index, { candidates }] of wanted.entries())
      for (const { row } of candidates)
        if (packing.leaving.includes(row.node)) missing[index]! -= 1;
        else withoutRoom[index]!.add(nodeKey(cluster, row.node));
  }
  const stay = withoutRoom.filter((_, index) => missing[index]! > 0);
  return {
    leaves: (row) => packings.get(row.cluster)?.leaves(row.node, row.slot, hourNumber(row, span)) ?? false,
    stays: ({ cluster, node }) => stay.some((nodes) => nodes.has(nodeKey(cluster, node))),
  };
}
