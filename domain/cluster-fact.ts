import type { FactEnd, FactOrigin } from "./fact.ts";

/** Amounts of GPU resources by name: `nvidia.com/gpu` → 8. */
export type GpuAmounts = Readonly<Record<string, number>>;

/** What is said of each kind of object. */
export interface ClusterFactBodies {
  readonly Namespace: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly ResourceQuota: { readonly hard: GpuAmounts; readonly used: GpuAmounts };
  readonly LimitRange: { readonly defaults: GpuAmounts; readonly max: GpuAmounts };
  readonly PriorityClass: { readonly value: number; readonly preempts: boolean };
  /** Kueue's ClusterQueue and LocalQueue, Volcano's and KAI's Queue. */
  readonly Queue: {
    readonly scheduler: "kueue" | "volcano" | "kai";
    /** The queue above: a LocalQueue's ClusterQueue, a ClusterQueue's cohort, a parent queue. */
    readonly parent?: string;
    readonly quota: GpuAmounts;
    readonly admitted: GpuAmounts;
    readonly borrowed: GpuAmounts;
    /** Workloads that wait. */
    readonly pending: number;
  };
  /** PodGroup, Grove's PodGang, JobSet, a Workload of Kueue or Kubernetes, LeaderWorkerSet. */
  readonly Gang: {
    readonly made: string;
    readonly size: number;
    readonly queue?: string;
    readonly queued?: number;
    readonly admitted?: number;
    readonly phase: string;
  };
  readonly ResourceClaim: {
    readonly devices: readonly {
      readonly driver: string;
      readonly pool: string;
      readonly device: string;
      readonly share?: string;
      /** What it consumes of each dimension of the device, above 0; absent where the device is not shared by capacity. */
      readonly consumed?: Readonly<Record<string, number>>;
    }[];
    /** UIDs of the pods that it is reserved for. */
    readonly reservedFor: readonly string[];
    readonly allocated?: number;
  };
  readonly ResourceSlice: {
    readonly driver: string;
    readonly pool: string;
    readonly node: string;
    readonly devices: readonly SliceDevice[];
  };
  /** What is left out of the selector fits every device. */
  readonly DeviceTaintRule: {
    readonly driver?: string;
    readonly pool?: string;
    readonly device?: string;
    readonly taint: DeviceTaint;
  };
}

/** A device of a DRA driver, as far as it is a GPU or a part of one. */
export interface SliceDevice {
  readonly name: string;
  readonly uuid?: string;
  readonly pciBusId?: string;
  readonly model?: string;
  /** Of a MIG device: the GPU that it is a part of, and its profile. */
  readonly parentUuid?: string;
  readonly profile?: string;
  readonly memoryMiB?: number;
  /** What the device has of each dimension that claims can consume: memory in bytes, others in their own unit. */
  readonly capacity?: Readonly<Record<string, number>>;
  /** One of the partitions of an AMD GPU, which have its PCI address. */
  readonly isPartition?: true;
  readonly taints?: readonly DeviceTaint[];
}

/** Why nobody gets a device who does not have it already. */
export interface DeviceTaint {
  readonly key: string;
  /** When it was added, milliseconds since the epoch, where that is known. */
  readonly since?: number;
}

/** A kind of cluster fact. */
export type ClusterFactKind = keyof ClusterFactBodies;

/** A namespace, quota, queue, gang, claim, slice or rule of taints: the value of `gpu.cluster`. */
export type ClusterFact = {
  [Kind in ClusterFactKind]: FactOrigin & {
    readonly kind: Kind;
    /** The resource that says it, as kubectl names it: several are a Queue or a Gang. `clusterqueues.kueue.x-k8s.io`. */
    readonly resource: string;
    /** Empty for what has none. */
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly body: ClusterFactBodies[Kind];
    readonly end?: FactEnd;
  };
}[ClusterFactKind];
