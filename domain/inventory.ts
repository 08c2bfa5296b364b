import type { Compute, OtherPods } from "./compute.ts";
import type { FactEnd, FactOrigin } from "./fact.ts";
import type { Vendor } from "./vendor.ts";

/** The way in which a node shares one GPU among several pods. */
export type SharingStrategy = "none" | "time-slicing" | "mps";

/** The way in which a machine is paid for. */
export type CapacityType = "on-demand" | "spot" | "reserved" | "owned";

/**
 * The source of a node's GPU count, strongest first: devices that DRA drivers publish, labels of GFD and of clouds, the register of HAMi or
 * Volcano, the cloud's instance type. The next two are guesses: MIG instances that must fit, and the capacity of an extended resource,
 * which also counts replicas and partitions. Samples count if they show more, or if the other source is a guess. No fact has `samples`.
 */
export type CountedBy = "slices" | "label" | "register" | "instance-type" | "instances" | "capacity" | "samples";

/** A number of physical GPUs, and the source of the count. */
export interface GpuCount {
  readonly by: CountedBy;
  readonly count: number;
}

/** GPUs of one kind on a node. */
export interface NodeGpus {
  readonly vendor: Vendor;
  /** The canonical model name: `NVIDIA-A100-SXM4-40GB`. */
  readonly model?: string;
  /** Physical GPUs. */
  readonly count: number;
  /** Absent in facts of releases before 0.4. */
  readonly countedBy?: CountedBy;
  /** Another count that contradicts `count`. */
  readonly otherCount?: GpuCount;
  /** The GPUs, replicas or partitions that the device plugin offers. Absent if it offers MIG instances or nothing. */
  readonly offered?: number;
  /** Partitions of each GPU that AMD's driver makes; absent if the GPUs are whole. */
  readonly partitions?: number;
  readonly memoryMiB?: number;
  /** The memory in the units in which a vGPU scheduler counts it, if these are larger than 1 MiB. */
  readonly memoryUnits?: number;
  /** Replicas of one GPU; 1 if it is not shared. */
  readonly replicas: number;
  readonly sharing: SharingStrategy;
  readonly mig: { readonly strategy: "none" | "single" | "mixed"; readonly profiles: Readonly<Record<string, number>> };
}

/**
 * Names of conditions whose good state is True, beside Ready: those of EKS's node monitoring agent (`AcceleratedHardwareReady`,
 * `KernelReady`), and others that end alike.
 * Source: https://docs.aws.amazon.com/eks/latest/userguide/node-health.html.
 */
const GOOD_IF_TRUE = /(?<!Not|Un|In)(Ready|Healthy|Available|Passed|Succeeded|OK|Ok)$/;

/** Returns the status of a condition of a Node that means good health. Most conditions beside Ready report a problem when they are True. */
export function goodStatus(type: string): NodeCondition["status"] {
  return GOOD_IF_TRUE.test(type) ? "True" : "False";
}

/** A node's Ready condition, or a condition that reports a problem. */
export interface NodeCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * The node label with the number of GPUs that the machine was delivered with. No software on a machine can detect a GPU that was removed.
 */
export const DELIVERED_LABEL = "gpu-ledger/delivered";

/** Returns the number of GPUs in a node's {@link DELIVERED_LABEL}; undefined if there is none. */
export function deliveredOf({ labels }: Pick<InventoryFact, "labels">): number | undefined {
  const written = labels[DELIVERED_LABEL];
  return written !== undefined && /^\d{1,4}$/.test(written) ? Number(written) : undefined;
}

/** The beginning of the UID of a node whose UID is not known: the node's name and the time of its creation follow. */
export const IMPORTED_UID = "imported/";

/** A node's current state: the value of `gpu.inventory`. Nodes without a GPU in any regime are left out. */
export interface InventoryFact extends FactOrigin {
  readonly node: string;
  readonly uid: string;
  /** `spec.providerID`: the machine's id at its cloud. Absent in facts of releases before 0.4. */
  readonly providerId?: string;
  /** `metadata.creationTimestamp`: when the node joined, milliseconds since the epoch. */
  readonly joined: number;
  readonly gpus: readonly NodeGpus[];
  /** Counts of the GPU resources. */
  readonly capacity: Readonly<Record<string, number>>;
  readonly allocatable: Readonly<Record<string, number>>;
  readonly driverVersion?: string;
  readonly cudaVersion?: string;
  readonly devicePluginVersion?: string;
  /** The tag of the exporter's image. Absent in facts of releases before 0.4. */
  readonly exporterVersion?: string;
  readonly instanceType?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly pool?: string;
  readonly capacityType?: CapacityType;
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  readonly conditions: readonly NodeCondition[];
  /** Since when `spec.unschedulable` is set: the taint's own time, or the time when it was first seen. */
  readonly cordonedSince?: number;
  /** The allocatable CPU and memory. Absent in facts of releases before 0.4. */
  readonly compute?: Compute;
  /** The pods without GPUs that stay on the node. DaemonSets' and static pods are left out. Absent if there are none. */
  readonly others?: OtherPods;
  /** The labels that the configuration or a price entry names. */
  readonly labels: Readonly<Record<string, string>>;
  /** The end of an import that saw the node until then. Whether the node exists afterwards is unknown without a later fact. */
  readonly knownUntil?: number;
  readonly end?: FactEnd;
}
