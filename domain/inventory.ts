import type { FactEnd, FactOrigin } from "./fact.ts";
import type { Vendor } from "./vendor.ts";

/** How a node gives one GPU to several. */
export type SharingStrategy = "none" | "time-slicing" | "mps";

/** How a machine is paid for. */
export type CapacityType = "on-demand" | "spot" | "reserved" | "owned";

/**
 * What has counted the GPUs of a node, the strongest first: the devices that DRA drivers publish, labels of GFD and of clouds, the
 * register of HAMi or Volcano, the cloud's instance type; else, as a guess, MIG instances that have to fit, or the capacity of an
 * extended resource, which counts replicas and partitions too. Samples count where they show more, or where the rest is a guess; no
 * fact has them.
 */
export type CountedBy = "slices" | "label" | "register" | "instance-type" | "instances" | "capacity" | "samples";

/** A number of physical GPUs, and what has counted them. */
export interface GpuCount {
  readonly by: CountedBy;
  readonly count: number;
}

/** GPUs of one kind on a node. */
export interface NodeGpus {
  readonly vendor: Vendor;
  /** By its canonical name, `NVIDIA-A100-SXM4-40GB`. */
  readonly model?: string;
  /** Physical GPUs. */
  readonly count: number;
  /** Absent in facts of releases before 0.4, which do not have it. */
  readonly countedBy?: CountedBy;
  /** Another count that contradicts the one that is taken. */
  readonly otherCount?: GpuCount;
  /** What the device plugin offers of these GPUs: GPUs, replicas or partitions. Absent where it offers instances of MIG or nothing. */
  readonly offered?: number;
  /** The partitions that AMD's driver cuts each of the GPUs into; absent where the GPUs are whole. */
  readonly partitions?: number;
  readonly memoryMiB?: number;
  /** Of one GPU: 1 where it is not shared. */
  readonly replicas: number;
  readonly sharing: SharingStrategy;
  readonly mig: { readonly strategy: "none" | "single" | "mixed"; readonly profiles: Readonly<Record<string, number>> };
}

/** A node's Ready condition, or another that says it is in trouble. */
export interface NodeCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * The label of a node that says how many GPUs its machine was delivered with: nothing that runs on a machine knows of a GPU that
 * has left it.
 */
export const DELIVERED_LABEL = "gpu-ledger/delivered";

/** A node as it is: the value of `gpu.inventory`. Nodes without a GPU in any regime are left out. */
export interface InventoryFact extends FactOrigin {
  readonly node: string;
  readonly uid: string;
  /** `metadata.creationTimestamp`: when it joined, milliseconds since the epoch. */
  readonly joined: number;
  readonly gpus: readonly NodeGpus[];
  /** Of GPU resources, as counts. */
  readonly capacity: Readonly<Record<string, number>>;
  readonly allocatable: Readonly<Record<string, number>>;
  readonly driverVersion?: string;
  readonly cudaVersion?: string;
  readonly devicePluginVersion?: string;
  readonly instanceType?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly pool?: string;
  readonly capacityType?: CapacityType;
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  readonly conditions: readonly NodeCondition[];
  /** `spec.unschedulable`, since when: the taint's own time, else when it was seen first. */
  readonly cordonedSince?: number;
  /** Those that the configuration or a price entry names. */
  readonly labels: Readonly<Record<string, string>>;
  readonly end?: FactEnd;
}
