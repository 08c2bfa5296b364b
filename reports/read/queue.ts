import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import { teamOf } from "../../domain/owner/owners.ts";
import { queuedPod, type Counted, type QueuedPod } from "../../domain/queue/queued-pod.ts";
import { viewQueue, type QueueView } from "../../domain/queue/view.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { ofNewestFact } from "../../runtime/store/schema/facts.ts";
import { maySeeTeam, seesAll, type Viewer } from "../access/viewer.ts";
import { newestSql, readFacts, readNamespaceMarks } from "./newest-facts.ts";

/** How long a pod that is gone shows whether its gang was complete: the lifetime of its tombstone. */
const GONE_MILLIS = 7 * DAY_MILLIS;

/** SQL for pods that wait for a node or belong to a gang. A pod with a node and without a gang is not in the queue. */
const PODS = newestSql("workload_facts", "cluster, uid", {
  where: "(cluster, uid) IN (SELECT cluster, uid FROM workload_facts WHERE node = '' OR JSONHas(fact, 'gang'))",
  having: `(${ofNewestFact("node")} = '' AND ${ofNewestFact("ended")} = 0)
    OR (JSONHas(fact, 'gang') AND (${ofNewestFact("ended")} = 0 OR max(at) > fromUnixTimestamp64Milli({since:Int64})))`,
});
const GRANTS = newestSql("cluster_facts", "cluster, kind, uid", { where: "kind IN ('ResourceQuota', 'Queue')" });

/**
 * Reads the current queue with its reasons, GPUs that are held without use, and the rest of quotas, as far as a viewer may see it. Quotas
 * and queues are of all teams together. Fails with a `StoreError`.
 */
export async function readQueue(
  store: Pick<StoreClient, "query">,
  owners: OwnerRules,
  viewer: Viewer,
  now: number,
): Promise<QueueView> {
  const [facts, grants, nodes, marks] = await Promise.all([
    readFacts<WorkloadFact>(store, PODS, { since: now - GONE_MILLIS }),
    seesAll(viewer) ? readFacts<ClusterFact>(store, GRANTS) : [],
    readFacts<InventoryFact>(store, newestSql("inventory_facts", "cluster, node")),
    readNamespaceMarks(store),
  ]);
  const pools = new Map(nodes.map(({ cluster, node, pool = "" }) => [`${cluster}/${node}`, pool]));
  const pods = facts.flatMap((fact): QueuedPod | readonly [] => {
    const queued = queuedPod(fact);
    if (queued === undefined) return [];
    const { marks: podAndOwner, workload, node, ...rest } = queued;
    const { cluster, namespace, queue } = rest;
    const subject = { namespace, workload, queue, ...podAndOwner, pool: pools.get(`${cluster}/${node}`) ?? "" };
    const team = teamOf(owners, { ...subject, namespaceMarks: marks.get(`${cluster}/${namespace}`) }, now).value;
    return maySeeTeam(viewer, team) ? { ...rest, team } : [];
  });
  const ofKind = <Kind extends "ResourceQuota" | "Queue">(kind: Kind): readonly Counted<Kind>[] =>
    grants.flatMap((fact) => (fact.kind === kind ? [fact as unknown as Counted<Kind>] : []));
  return viewQueue({ pods: () => pods, quotas: () => ofKind("ResourceQuota"), queues: () => ofKind("Queue") }, now);
}
