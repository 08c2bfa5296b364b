import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { ClaimedDevice } from "../../../domain/holding.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { FACT_ORDER } from "../../../runtime/store/schema/facts.ts";
import { createClaims } from "../../../domain/attribution/claims.ts";
import { taintsOfNodes } from "./device-taints.ts";
import type { NamespaceState, NodeRecord, Span } from "../plan/node-record.ts";

const FACTS = `
SELECT fact, toUnixTimestamp64Milli(max(at) OVER (
  PARTITION BY kind, uid, epoch ORDER BY version, ended, seen_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS valid_from
FROM cluster_facts FINAL
WHERE cluster = {cluster:String} AND (kind = 'Namespace' OR uid IN (
  SELECT uid FROM cluster_facts WHERE cluster = {cluster:String} AND kind IN ('ResourceClaim', 'ResourceSlice', 'DeviceTaintRule')
  GROUP BY uid HAVING NOT max(ended) OR max(at) >= fromUnixTimestamp64Milli({from:Int64})))
ORDER BY kind, ${FACT_ORDER}, uid`;

/** What is known of a cluster's namespaces and claims, for all of its nodes. */
export interface ClusterRecord extends Pick<NodeRecord, "claimed" | "namespace"> {
  /** What DRA drivers publish of a node. */
  slicesOf(node: string): NodeRecord["slices"];
  /** The taints that devices of a node had. */
  taintsOf(node: string): NodeRecord["taints"];
}

/**
 * The namespaces of a cluster with their labels, state by state, and the devices that pods had through claims that were there in a
 * span: of each claim and pod the last that was said while the claim was reserved for it, as who is done with a claim leaves it
 * before it ends.
 */
export async function readCluster(store: StoreClient, cluster: string, { from }: Span): Promise<ClusterRecord> {
  const rows = await store.query<{ fact: string; valid_from: string }>(FACTS, { cluster, from });
  const namespaces = new Map<string, NamespaceState[]>();
  const devices = new Map<string, Map<string, readonly ClaimedDevice[]>>();
  const facts = rows.map(({ fact, valid_from }) => ({
    fact: JSON.parse(fact) as ClusterFact,
    from: Number(valid_from),
  }));
  const slices = createClaims();
  for (const { fact } of facts) {
    if (fact.kind === "ResourceSlice") slices.putSlice(fact.uid, { order: fact, body: fact.body });
  }
  for (const { fact, from } of facts) {
    if (fact.kind === "Namespace" && fact.end === undefined) {
      const { labels, annotations } = fact.body;
      // A later watcher knows better what was so at a time of which an earlier one has spoken.
      const before = namespaces.get(fact.name)?.filter((state) => state.from < from) ?? [];
      namespaces.set(fact.name, [...before, { from, labels, annotations }]);
    } else if (fact.kind === "ResourceClaim" && fact.body.devices.length > 0) {
      slices.putClaim(fact.uid, { namespace: fact.namespace, name: fact.name, body: fact.body });
      for (const pod of fact.body.reservedFor) {
        const ofPod = devices.get(pod) ?? new Map<string, readonly ClaimedDevice[]>();
        devices.set(
          pod,
          ofPod.set(
            fact.uid,
            slices.of(pod).filter(({ claim }) => claim === fact.name),
          ),
        );
      }
    }
  }
  const claimed = new Map([...devices].map(([pod, byClaim]) => [pod, [...byClaim.values()].flat()]));
  const published = new Map<string, Map<string, NodeRecord["slices"]>>();
  for (const { fact } of facts) {
    if (fact.kind !== "ResourceSlice") continue;
    const ofNode = published.get(fact.body.node) ?? new Map<string, NodeRecord["slices"]>();
    published.set(fact.body.node, ofNode.set(fact.uid, fact.end === undefined ? fact.body.devices : []));
  }
  return {
    claimed: (uid) => claimed.get(uid) ?? [],
    namespace: (name) => namespaces.get(name) ?? [],
    slicesOf: (node) => [...(published.get(node)?.values() ?? [])].flat(),
    taintsOf: taintsOfNodes(facts),
  };
}
