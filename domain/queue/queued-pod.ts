import type { ClusterFactBodies } from "../cluster-fact.ts";
import { podMarks, type OwnerSubject } from "../owner/owner.ts";
import type { Gang, GpuAsk, WorkloadFact } from "../workload.ts";

/**
 * The fields of a pod that requests GPUs that the queue view needs. A pod of a gang that held and has ended stays until its tombstone,
 * because it shows that the gang was complete.
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
  /** The number of GPUs, instances or shares that it requests. */
  readonly devices: number;
  /** True if it is bound to a node and holds its devices. */
  readonly isBound: boolean;
  /** Why it waits, in Kubernetes' words. */
  readonly reason: string;
  readonly message: string;
  /** Since when it waits or holds, milliseconds since the epoch. */
  readonly since: number;
  /** When it ended, milliseconds since the epoch; undefined if it has not. */
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

/** A pod of the queue with the fields from which its owner follows. */
export type PodWithMarks = Omit<QueuedPod, "team"> & {
  readonly marks: Pick<OwnerSubject, "pod" | "owner">;
  readonly workload: string;
  /** Empty before it is bound. */
  readonly node: string;
};

/** Returns a pod's fact as the queue sees it; undefined for a pod that has ended for the queue or that requests no GPU. */
export function queuedPod(fact: WorkloadFact): PodWithMarks | undefined {
  const pod = podOf(fact);
  const isOver = pod.endedAt !== undefined && (pod.gang === undefined || !pod.isBound);
  return isOver || fact.asks.length === 0 ? undefined : pod;
}

function podOf(fact: WorkloadFact): PodWithMarks {
  const { cluster, namespace, name, times, pending, phase, end } = fact;
  const isBound = fact.node !== "";
  const isFinished = phase === "Succeeded" || phase === "Failed";
  return {
    cluster,
    namespace,
    name,
    marks: podMarks(fact),
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

/** Returns the number of requested devices. A claim counts as one device until its own fact is known. */
function devicesOf(ask: GpuAsk): number {
  return ask.kind === "claim" ? 1 : ask.count;
}
