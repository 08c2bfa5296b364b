import type { FactEnd, FactOrigin } from "./fact.ts";

/** Amounts of GPU resources by name: `nvidia.com/gpu` → 8. */
export type GpuAmounts = Readonly<Record<string, number>>;

/** The content of a fact for each kind of object. */
export interface ClusterFactBodies {
  readonly Namespace: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly ResourceQuota: { readonly hard: GpuAmounts; readonly used: GpuAmounts };
  readonly LimitRange: { readonly defaults: GpuAmounts; readonly max: GpuAmounts };
  readonly PriorityClass: { readonly value: number; readonly preempts: boolean };
  readonly PodDisruptionBudget: {
    /** The least available pods, or the most unavailable ones, as written: `1`, `50%`. */
    readonly minAvailable?: string;
    readonly maxUnavailable?: string;
    /** The requirements that the labels of a pod must meet. Absent if the budget selects no pod. */
    readonly selector?: readonly LabelRequirement[];
  };
  /** Kueue's ClusterQueue and LocalQueue, Volcano's and KAI's Queue. */
  readonly Queue: {
    readonly scheduler: "kueue" | "volcano" | "kai";
    /** The parent queue: a LocalQueue's ClusterQueue, a ClusterQueue's cohort, or a parent queue. */
    readonly parent?: string;
    readonly quota: GpuAmounts;
    readonly admitted: GpuAmounts;
    readonly borrowed: GpuAmounts;
    /** The number of waiting workloads. */
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
  /** The progress of a TrainJob with the feature gate `TrainJobStatus` of Kubeflow Trainer. */
  readonly TrainJob: {
    /** Percent, 0 to 100. */
    readonly progress: number;
    /** When the training reported it, milliseconds since the epoch, if known. */
    readonly since?: number;
  };
  readonly ResourceClaim: {
    readonly devices: readonly {
      readonly driver: string;
      readonly pool: string;
      readonly device: string;
      readonly share?: string;
      /** The consumed amount of each dimension of the device, above 0. Absent if the device is not shared by capacity. */
      readonly consumed?: Readonly<Record<string, number>>;
    }[];
    /** True if the claim has admin access alone: it monitors devices, and holds none. */
    readonly isMonitor?: true;
    /** UIDs of the pods that the claim is reserved for. */
    readonly reservedFor: readonly string[];
    readonly allocated?: number;
  };
  readonly ResourceSlice: {
    readonly driver: string;
    readonly pool: string;
    readonly node: string;
    readonly devices: readonly SliceDevice[];
  };
  /** A selector. A field that is absent matches every device. */
  readonly DeviceTaintRule: {
    readonly driver?: string;
    readonly pool?: string;
    readonly device?: string;
    readonly taint: DeviceTaint;
  };
}

/** One requirement of a label selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** Empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

/** A device of a DRA driver that is a GPU or a part of one. */
export interface SliceDevice {
  readonly name: string;
  readonly uuid?: string;
  readonly pciBusId?: string;
  readonly model?: string;
  /** The vendor of the driver, if the model does not show it; absent for NVIDIA. */
  readonly vendor?: "amd" | "intel";
  /** For a MIG device: its parent GPU and its profile. */
  readonly parentUuid?: string;
  readonly profile?: string;
  readonly memoryMiB?: number;
  /** The capacity in each dimension that claims can consume: memory in bytes, other dimensions in their own unit. */
  readonly capacity?: Readonly<Record<string, number>>;
  /** A partition of an AMD GPU. It has the GPU's PCI address. */
  readonly isPartition?: true;
  readonly taints?: readonly DeviceTaint[];
}

/** A taint that keeps new claims from getting a device. Pods that have the device keep it. */
export interface DeviceTaint {
  readonly key: string;
  /** When the taint was added, milliseconds since the epoch, if known. */
  readonly since?: number;
}

/** A kind of cluster fact. */
export type ClusterFactKind = keyof ClusterFactBodies;

/** A namespace, quota, budget, queue, gang, training, claim, slice or taint rule: the value of `gpu.cluster`. */
export type ClusterFact = {
  [Kind in ClusterFactKind]: FactOrigin & {
    readonly kind: Kind;
    /**
     * The resource that the fact comes from, as kubectl names it: `clusterqueues.kueue.x-k8s.io`. Several resources are a Queue or a Gang.
     */
    readonly resource: string;
    /** Empty for an object without a namespace. */
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly body: ClusterFactBodies[Kind];
    readonly end?: FactEnd;
  };
}[ClusterFactKind];
