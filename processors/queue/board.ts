import type { ClusterFactBodies } from "../../domain/cluster-fact.ts";
import { clusterFactKey, inventoryKey, workloadKey } from "../../domain/messages/fact-message.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import type { Marks } from "../../domain/owner/owner.ts";
import { teamOf } from "../../domain/owner/owners.ts";
import type { Gang, GpuAsk, WorkloadFact } from "../../domain/workload.ts";
import type { FactListener } from "../followed-facts.ts";
import { createNewest } from "../holdings/newest.ts";

/**
 * A pod that wants GPUs, as far as the queue is concerned. One of a gang that held and has ended stays until its tombstone:
 * it tells that the gang was whole.
 */
export interface QueuedPod {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly team: string;
  /** Empty for none. */
  readonly queue: string;
  readonly priorityClass: string;
  readonly gang: Gang | undefined;
  /** GPUs, instances or shares of them that it asks for. */
  readonly devices: number;
  /** Whether it is bound to a node, and holds what it asked for. */
  readonly isBound: boolean;
  /** Why it waits, in Kubernetes' words. */
  readonly reason: string;
  readonly message: string;
  /** Since when it waits, or since when it holds, milliseconds since the epoch. */
  readonly since: number;
  /** Until when it held, where it has ended. */
  readonly endedAt: number | undefined;
}

/** A quota or queue of a cluster. */
export interface Counted<Kind extends "ResourceQuota" | "Queue"> {
  readonly cluster: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly body: ClusterFactBodies[Kind];
}

/** What waits and what is left, in all clusters, as far as the facts tell that were given. */
export interface QueueBoard extends FactListener {
  pods(): readonly QueuedPod[];
  quotas(): readonly Counted<"ResourceQuota">[];
  queues(): readonly Counted<"Queue">[];
}

type PodWithMarks = Omit<QueuedPod, "team"> & {
  readonly marks: Marks;
  readonly workload: string;
  /** Empty before it is bound. */
  readonly node: string;
};

/** A board with nothing on it. Of each object the newest fact counts, in whatever order they come. */
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
      const isOver = pod.endedAt !== undefined && (pod.gang === undefined || !pod.isBound);
      if (isOver || fact.asks.length === 0) pods.delete(key);
      else pods.set(key, pod);
    },
    clusterFact(fact) {
      const key = clusterFactKey(fact);
      if (!newest.take(key, fact)) return;
      const { cluster, resource, namespace, name, end } = fact;
      if (fact.kind === "Namespace") {
        const place = placeOf(cluster, name);
        if (end === undefined) namespaces.set(place, { key, marks: fact.body });
        // A namespace that was made anew is another object with the same name.
        else if (namespaces.get(place)?.key === key) namespaces.delete(place);
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
        const namespaceMarks = namespaces.get(placeOf(cluster, namespace))?.marks;
        const subject = { namespace, workload, queue, pool, pod: marks, namespaceMarks };
        return { ...pod, team: teamOf(owners, subject, now()).value };
      }),
    quotas: () => [...quotas.values()],
    queues: () => [...queues.values()],
  };
}

function queuedPod(fact: WorkloadFact): PodWithMarks {
  const { cluster, namespace, name, times, pending, phase, end } = fact;
  const isBound = fact.node !== "";
  const isFinished = phase === "Succeeded" || phase === "Failed";
  return {
    cluster,
    namespace,
    name,
    marks: { labels: fact.labels, annotations: fact.annotations },
    workload: fact.workload.name,
    node: fact.node,
    queue: fact.queue ?? "",
    priorityClass: fact.priorityClass ?? "",
    gang: fact.gang,
    devices: fact.asks.reduce((sum, ask) => sum + devicesOf(ask), 0),
    isBound,
    reason: pending?.reason ?? "",
    message: pending?.message ?? "",
    since: isBound ? (times.scheduled ?? times.created) : (times.queued ?? times.created),
    endedAt: isFinished ? (times.finished ?? fact.seenAtMillis) : end?.atMillis,
  };
}

/** A claim is counted as one device until its own fact tells more. */
function devicesOf(ask: GpuAsk): number {
  return ask.kind === "claim" ? 1 : ask.count;
}

function placeOf(cluster: string, namespace: string): string {
  return `${cluster}/${namespace}`;
}
