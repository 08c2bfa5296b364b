import type { NodeGpus } from "./inventory.ts";
import type { DeviceEvidence, GpuAsk, WorkloadFact } from "./workload.ts";

/** A pod that holds GPUs of the node that it is bound to: what is kept of its fact to join samples with it. */
export interface Holding {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** When it was bound, milliseconds since the epoch. */
  readonly from: number;
  /** When it was finished or gone; Infinity while it is neither. */
  readonly until: number;
  /** Empty for a reservation pod: it holds nothing itself. */
  readonly asks: readonly GpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
}

/** A device that a DRA claim of a pod got, with what the driver's slice says of it. */
export interface ClaimedDevice {
  readonly namespace: string;
  readonly claim: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  /** A GPU's UUID, or the one of a MIG instance itself. */
  readonly uuid?: string;
  readonly pciBusId?: string;
  /** Of a MIG instance: its GPU, and its profile. */
  readonly parentUuid?: string;
  readonly profile?: string;
  /** Of a device that several claims have by its capacity: the dimension of which this claim consumes the largest part. */
  readonly consumed?: { readonly amount: number; readonly of: number };
  /** Of a partition of an AMD GPU: how many the GPU has. */
  readonly partitions?: number;
}

/** What is known of a node. The object lives as long as the node has pods or GPUs that are known, and changes. */
export interface NodeHoldings {
  /** Grows whenever something changes that can change who holds a device of this node. */
  readonly version: number;
  /** All that are or were bound to it as long as they are remembered, by namespace, name and UID. */
  readonly pods: readonly Holding[];
  /** By the node's own labels and capacity; empty where they are not known. */
  readonly gpus: readonly NodeGpus[];
  /** The devices that the claims reserved for a pod have got. */
  claimed(uid: string): readonly ClaimedDevice[];
}

/** What is known of a cluster. */
export interface ClusterHoldings {
  /** Grows with the version of any of its nodes. */
  readonly version: number;
  /** Undefined for a node of which nothing is known. */
  node(name: string): NodeHoldings | undefined;
  /** The bound pods of this name on any node, past ones included as long as they are remembered. */
  named(namespace: string, name: string): readonly Holding[];
  /** The bound pod of this UID. */
  pod(uid: string): Holding | undefined;
}

/** What is known of all clusters: the port through which the join asks. The same object for a cluster at every call. */
export interface Holdings {
  cluster(name: string): ClusterHoldings;
}

/** Whether a pod holds at a time: from when it is bound, up to but without the moment at which it is finished or gone. */
export function holdsAt({ from, until }: Holding, millis: number): boolean {
  return from <= millis && millis < until;
}

/** Whether a pod stands for the pods of its group and holds nothing itself. */
export function isReservation({ asks }: Holding): boolean {
  return asks.length === 0;
}

/** What the join needs of a pod's fact; undefined for one that is not bound. */
export function holdingOf(fact: WorkloadFact): Holding | undefined {
  const { uid, namespace, name, node, times, phase, end, asks, evidence } = fact;
  if (node === "") return undefined;
  const isOver = phase === "Succeeded" || phase === "Failed";
  const finished = times.finished ?? (isOver ? fact.seenAtMillis : Infinity);
  const until = Math.min(finished, end?.atMillis ?? Infinity);
  return { uid, namespace, name, node, from: times.scheduled ?? times.created, until, asks, evidence };
}
