import type { StoreClient } from "../../../runtime/store/client.ts";
import { clustersWithUsage } from "../metering/clusters.ts";
import { readUsageKinds, type UsageKind } from "../metering/usage-rows.ts";
import type { Span } from "../plan/node-record.ts";
import type { UsageChange } from "./apply.ts";
import type { ChangeRules } from "./change-rules.ts";
import { isNode } from "./node-match.ts";
import { isNamed, wantedBy } from "./wanted.ts";

/** Nodes of a cluster, sorted. */
export interface NodesOfCluster {
  readonly cluster: string;
  readonly nodes: readonly string[];
}

/**
 * Returns the nodes whose charges in a span changes can touch, by the names that the changes ask for. The times of a change are not looked at.
 * Fails with a `StoreError`.
 */
export async function touchedNodes(
  store: StoreClient,
  changes: readonly UsageChange[],
  { span, owners, isRemoved }: { readonly span: Span } & Pick<ChangeRules, "owners" | "isRemoved">,
): Promise<readonly NodesOfCluster[]> {
  const wanted = changes.filter((change) => change.what !== "pay").map(wantedBy);
  const pays = changes.filter((change) => change.what === "pay");
  // One row stands for all rows with its holders, so their owners may be those of any time.
  const moments = [span.from, ...owners.changes.filter((at) => at > span.from && at < span.until)];
  const isTouched = (row: UsageKind): boolean => {
    const { cluster, node, machine, segment, holders } = row;
    if (isRemoved(cluster, node)) return true;
    if (pays.some(({ where }) => isNode(where, { cluster, node, machine, gpu: segment.gpu }))) return true;
    return holders.some((_, index) =>
      wanted.some((each) => moments.some((atMillis) => isNamed(each, row, index, { owners, atMillis }))),
    );
  };
  const touched: NodesOfCluster[] = [];
  for (const cluster of await clustersWithUsage(store, span)) {
    const nodes = new Set<string>();
    for await (const rows of readUsageKinds(store, cluster, span))
      for (const row of rows) if (!nodes.has(row.node) && isTouched(row)) nodes.add(row.node);
    if (nodes.size > 0) touched.push({ cluster, nodes: [...nodes].toSorted() });
  }
  return touched;
}
