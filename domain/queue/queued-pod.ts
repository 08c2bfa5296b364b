import type { ClusterFactBodies } from "../cluster-fact.ts";
import { podMarks, type OwnerSubject } from "../owner/owner.ts";
import type { Gang, GpuAsk, WorkloadFact } from "../workload.ts";

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

/** A pod of the queue with what its owner is found by. */
export type PodWithMarks = Omit<QueuedPod, "team"> & {
  readonly marks: Pick<OwnerSubject, "pod" | "owner">;
  readonly workload: string;
  /** Empty before it is bound. */
  readonly node: string;
};

/** A pod's fact as the queue sees it; undefined for one that is over for it, or never wanted a GPU. */
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

/** A claim is counted as one device until its own fact tells more. */
function devicesOf(ask: GpuAsk): number {
  return ask.kind === "claim" ? 1 : ask.count;
}
