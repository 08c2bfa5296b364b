import type { NodeGpus } from "./inventory.ts";
import type { DeviceEvidence, GpuAsk, WorkloadFact } from "./workload.ts";

/** A pod that holds GPUs of its node: the fields of its fact that the join with samples needs. */
export interface Holding {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** When the pod was bound, milliseconds since the epoch. */
  readonly from: number;
  /** When the pod finished or disappeared; Infinity until then. */
  readonly until: number;
  /** Empty for a reservation pod, which holds nothing itself. */
  readonly asks: readonly GpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
}

/** A device that a pod's DRA claim got, with the fields of the driver's slice. */
export interface ClaimedDevice {
  readonly namespace: string;
  readonly claim: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  /** The UUID of a GPU, or of a MIG instance itself. */
  readonly uuid?: string;
  readonly pciBusId?: string;
  /** For a MIG instance: its GPU and its profile. */
  readonly parentUuid?: string;
  readonly profile?: string;
  /** For a device that several claims share by capacity: the dimension of which this claim consumes the largest part. */
  readonly consumed?: { readonly amount: number; readonly of: number };
  /** For a partition of an AMD GPU: the number of partitions of the GPU. */
  readonly partitions?: number;
}

/** The known pods and GPUs of a node. The object changes, and it exists as long as the node has known pods or GPUs. */
export interface NodeHoldings {
  /** Grows with every change that can change the holder of a device of this node. */
  readonly version: number;
  /** All remembered pods that are or were bound to the node, sorted by namespace, name and UID. */
  readonly pods: readonly Holding[];
  /** The GPUs by the node's own labels and capacity; empty if they are unknown. */
  readonly gpus: readonly NodeGpus[];
  /** Returns the devices of the claims that are reserved for a pod. */
  claimed(uid: string): readonly ClaimedDevice[];
}

/** The known holdings of a cluster. */
export interface ClusterHoldings {
  /** Grows when the version of any of its nodes grows. */
  readonly version: number;
  /** Returns undefined for an unknown node. */
  node(name: string): NodeHoldings | undefined;
  /** Returns the bound pods with this name on any node, with past pods that are still remembered. */
  named(namespace: string, name: string): readonly Holding[];
  /** Returns the bound pod with this UID. */
  pod(uid: string): Holding | undefined;
}

/** The holdings of all clusters: the port that the join reads. Every call for a cluster returns the same object. */
export interface Holdings {
  cluster(name: string): ClusterHoldings;
}

/** Returns whether a pod holds at a time: from its binding until, exclusive, it finishes or disappears. */
export function holdsAt({ from, until }: Holding, millis: number): boolean {
  return from <= millis && millis < until;
}

/** Returns whether a pod is a reservation pod: it stands for the pods of its group and holds nothing itself. */
export function isReservation({ asks }: Holding): boolean {
  return asks.length === 0;
}

/** Returns the part of a pod's fact that the join needs; undefined if the pod is not bound. */
export function holdingOf(fact: WorkloadFact): Holding | undefined {
  const { uid, namespace, name, node, times, phase, end, asks, evidence } = fact;
  if (node === "") return undefined;
  const isOver = phase === "Succeeded" || phase === "Failed";
  const finished = times.finished ?? (isOver ? fact.seenAtMillis : Infinity);
  const until = Math.min(finished, end?.atMillis ?? Infinity);
  return { uid, namespace, name, node, from: times.scheduled ?? times.created, until, asks, evidence };
}
