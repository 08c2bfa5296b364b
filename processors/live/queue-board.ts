import { clusterFactKey, inventoryKey, workloadKey } from "../../domain/messages/fact-message.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import type { Marks } from "../../domain/marks.ts";
import { teamOf } from "../../domain/owner/owners.ts";
import { queuedPod, type Counted, type PodWithMarks } from "../../domain/queue/queued-pod.ts";
import type { QueueFacts } from "../../domain/queue/view.ts";
import type { FactListener } from "../ingest/followed-facts.ts";
import { createNewest } from "../ingest/holdings/newest.ts";

/** The waiting pods and the remaining quotas in all clusters, built from facts. */
export type QueueBoard = FactListener & QueueFacts;

/** Creates an empty board. The newest fact of each object counts, in any order of arrival. */
export function createQueueBoard(owners: OwnerRules, now: () => number): QueueBoard {
  const newest = createNewest();
  const pods = new Map<string, PodWithMarks>();
  const namespaces = new Map<string, { readonly key: string; readonly marks: Marks }>();
  const pools = new Map<string, string>();
  const quotas = new Map<string, Counted<"ResourceQuota">>();
  const queues = new Map<string, Counted<"Queue">>();

  return {
    workload(fact) {
      const key = workloadKey(fact);
      if (!newest.take(key, fact)) return;
      const pod = queuedPod(fact);
      if (pod === undefined) pods.delete(key);
      else pods.set(key, pod);
    },
    clusterFact(fact) {
      const key = clusterFactKey(fact);
      if (!newest.take(key, fact)) return;
      const { cluster, resource, namespace, name, end } = fact;
      if (fact.kind === "Namespace") {
        const key = namespaceKeyOf(cluster, name);
        if (end === undefined) namespaces.set(key, { key, marks: fact.body });
        // A re-created namespace is another object with the same name.
        else if (namespaces.get(key)?.key === key) namespaces.delete(key);
      } else if (fact.kind === "ResourceQuota") {
        if (end === undefined) quotas.set(key, { cluster, resource, namespace, name, body: fact.body });
        else quotas.delete(key);
      } else if (fact.kind === "Queue") {
        if (end === undefined) queues.set(key, { cluster, resource, namespace, name, body: fact.body });
        else queues.delete(key);
      }
    },
    inventory(fact) {
      const key = inventoryKey(fact);
      if (!newest.take(key, fact)) return;
      if (fact.end === undefined && fact.pool !== undefined) pools.set(key, fact.pool);
      else pools.delete(key);
    },
    tombstone(_, key) {
      newest.forget(key);
      pods.delete(key);
      pools.delete(key);
      quotas.delete(key);
      queues.delete(key);
    },
    pods: () =>
      [...pods.values()].map(({ marks, workload, node, ...pod }) => {
        const { cluster, namespace, queue } = pod;
        const pool = pools.get(inventoryKey({ cluster, node })) ?? "";
        const namespaceMarks = namespaces.get(namespaceKeyOf(cluster, namespace))?.marks;
        const subject = { namespace, workload, queue, pool, ...marks, namespaceMarks };
        return { ...pod, team: teamOf(owners, subject, now()).value };
      }),
    quotas: () => [...quotas.values()],
    queues: () => [...queues.values()],
  };
}

function namespaceKeyOf(cluster: string, namespace: string): string {
  return `${cluster}/${namespace}`;
}
