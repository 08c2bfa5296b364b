import { createClaims } from "../../../domain/attribution/claims.ts";
import type { ClaimedDevice } from "../../../domain/holding.ts";
import { taintsOfNodes, type DatedFact } from "./taints-of-nodes.ts";
import type { NamespaceState, NodeRecord } from "./node-record.ts";

/** The namespaces and claims of a cluster, for all of its nodes. */
export interface ClusterRecord extends Pick<NodeRecord, "claimed" | "namespace"> {
  /** Returns the devices that DRA drivers publish for a node. */
  slicesOf(node: string): NodeRecord["slices"];
  /** Returns the taints that devices of a node had. */
  taintsOf(node: string): NodeRecord["taints"];
}

/**
 * Returns the states of a cluster's namespaces with their labels, and the devices that pods had through claims, from facts in the order of
 * kind and time. For each claim and pod the last fact counts in which the claim was reserved for the pod, because a pod that is done leaves the
 * claim before the claim ends.
 */
export function clusterRecordOf(facts: readonly DatedFact[]): ClusterRecord {
  const namespaces = new Map<string, NamespaceState[]>();
  const devices = new Map<string, Map<string, readonly ClaimedDevice[]>>();
  const slices = createClaims();
  for (const { fact } of facts) {
    if (fact.kind === "ResourceSlice") slices.putSlice(fact.uid, { order: fact, body: fact.body });
  }
  for (const { fact, from } of facts) {
    if (fact.kind === "Namespace" && fact.end === undefined) {
      const { labels, annotations } = fact.body;
      // A state of a later watcher replaces earlier watchers' states of the same or later times.
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
