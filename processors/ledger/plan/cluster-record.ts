import { createClaims } from "../../../domain/attribution/claims.ts";
import type { ClusterFact } from "../../../domain/cluster-fact.ts";
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

type ClaimFact = Extract<ClusterFact, { kind: "ResourceClaim" }>;

/**
 * Returns the claims with devices, by the time of their allocation, with what the slices of that time contain about their devices. The names
 * of devices pass from one GPU to another, so other slices count only for a device that the slices of the time do not have. The first slices
 * of a pool hold for the time before them.
 */
function resolvedClaims(
  facts: readonly DatedFact[],
): readonly { readonly fact: ClaimFact; readonly ofClaim: readonly ClaimedDevice[] }[] {
  const pools = new Set<string>();
  const slices = facts.flatMap(({ fact, from }) => {
    if (fact.kind !== "ResourceSlice") return [];
    const pool = `${fact.body.driver} ${fact.body.pool}`;
    const isFirst = !pools.has(pool);
    pools.add(pool);
    return [{ fact, from: isFirst ? -Infinity : from }];
  });
  const claims = facts.flatMap(({ fact, from }) =>
    fact.kind === "ResourceClaim" && fact.body.devices.length > 0 ? [{ fact, at: fact.body.allocated ?? from }] : [],
  );
  const [then, ever] = [createClaims(), createClaims()];
  for (const { fact } of slices) ever.putSlice(fact.uid, { order: fact, body: fact.body });
  let next = 0;
  return claims
    .toSorted((a, b) => a.at - b.at)
    .map(({ fact, at }) => {
      for (; next < slices.length && slices[next]!.from <= at; next++) {
        const { uid, end, ...order } = slices[next]!.fact;
        then.putSlice(uid, end === undefined ? { order, body: order.body } : undefined);
      }
      const claim = { namespace: fact.namespace, name: fact.name, body: fact.body };
      const [own, others] = [then, ever].map((of) => {
        of.putClaim(fact.uid, claim);
        return fact.body.reservedFor.slice(0, 1).flatMap((pod) => of.of(pod).filter((one) => one.claim === fact.name));
      });
      return { fact, ofClaim: own!.map((device, index) => (isKnown(device) ? device : others![index]!)) };
    });
}

function isKnown({ uuid, pciBusId, parentUuid }: ClaimedDevice): boolean {
  return (uuid ?? pciBusId ?? parentUuid) !== undefined;
}

/**
 * Returns the states of a cluster's namespaces with their labels, and the devices that pods had through claims, from facts in the order of
 * kind and time. For each claim and pod the last fact counts in which the claim was reserved for the pod, because a pod that is done leaves the
 * claim before the claim ends.
 */
export function clusterRecordOf(facts: readonly DatedFact[]): ClusterRecord {
  const namespaces = new Map<string, NamespaceState[]>();
  const devices = new Map<string, Map<string, readonly ClaimedDevice[]>>();
  for (const { fact, from } of facts) {
    if (fact.kind === "Namespace" && fact.end === undefined) {
      const { labels, annotations } = fact.body;
      // A state of a later watcher replaces earlier watchers' states of the same or later times.
      const before = namespaces.get(fact.name)?.filter((state) => state.from < from) ?? [];
      namespaces.set(fact.name, [...before, { from, labels, annotations }]);
    }
  }
  for (const { fact, ofClaim } of resolvedClaims(facts)) {
    for (const pod of fact.body.reservedFor) {
      const ofPod = devices.get(pod) ?? new Map<string, readonly ClaimedDevice[]>();
      devices.set(pod, ofPod.set(fact.uid, ofClaim));
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
