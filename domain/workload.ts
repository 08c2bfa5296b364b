import type { FactEnd, FactOrigin } from "./fact.ts";
import type { Marks } from "./owner/owner.ts";

/** What a dashboard splits workloads by. */
export type WorkloadType = "training" | "inference" | "notebook" | "other";

/** An object in the chain from a pod up to what a person has created. */
export interface OwnerReference {
  /** For example `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * What a pod asks of one resource. GPUs stand in limits; init containers reserve their maximum, sidecars add up
 * (shared facts of Kubernetes' scheduler: the effective request of a pod).
 */
export type GpuAsk =
  /** Whole GPUs, or replicas where the node shares its GPUs by time-slicing or MPS: `resource` and the node tell. */
  | { readonly kind: "gpu"; readonly resource: string; readonly count: number }
  /** MIG instances of one profile, in NVIDIA's writing: `1g.10gb+me`. */
  | { readonly kind: "mig"; readonly resource: string; readonly profile: string; readonly count: number }
  /** HAMi's or Volcano's shares of GPUs: memory in MiB or percent, cores in percent, of each of `count` GPUs. */
  | {
      readonly kind: "vgpu";
      readonly scheduler: "hami" | "volcano";
      readonly count: number;
      readonly memoryMiB?: number;
      readonly memoryPercent?: number;
      readonly coresPercent?: number;
    }
  /** KAI's or Run:ai's fraction of `count` GPUs: a part of one, in parts per million, or memory in MiB. */
  | {
      readonly kind: "fraction";
      readonly count: number;
      readonly ppm?: number;
      readonly memoryMiB?: number;
    }
  /**
   * A DRA claim by its name in the pod's namespace; which devices it got stands in the claim's fact. The name is empty as
   * long as the claim is not made from its template.
   */
  | { readonly kind: "claim"; readonly claim: string };

/** What proves which device a pod has, and by which source. */
export type DeviceEvidence =
  /**
   * Kubelet's word in the pod's status, by the id that the device plugin gives a device: a UUID, a PCI address, or an index with the
   * number of a MIG instance. `units` are those of the resource: replicas of a shared device.
   */
  | {
      readonly by: "status";
      readonly uuid?: string;
      readonly pciBusId?: string;
      readonly gpuIndex?: number;
      readonly instance?: number;
      readonly units: number;
      /** The device plugin calls it unhealthy. */
      readonly isUnhealthy?: true;
      /** When a watcher has seen it unhealthy, in the order of time. */
      readonly unhealthy?: readonly { readonly from: number; readonly until?: number }[];
    }
  /**
   * HAMi's and Volcano's annotations of what was allocated: one entry a device and container. Run:ai's dynamic MIG names an
   * instance instead, by its own UUID, without memory and cores.
   */
  | {
      readonly by: "annotation";
      readonly uuid: string;
      readonly container: number;
      readonly memoryMiB: number;
      readonly coresPercent: number;
      /** HAMi gave an instance of MIG of this GPU, with this memory. */
      readonly isInstance?: true;
      /** Of a MIG instance: the index of its GPU on the node, and its number on that GPU (`GPU_I_ID`). */
      readonly gpuIndex?: number;
      readonly instance?: number;
    }
  /** KAI's and Run:ai's: the group whose reservation pod names the GPU. */
  | { readonly by: "group"; readonly group: string }
  /** A reservation pod's own word: its group has this GPU. It holds nothing itself. */
  | { readonly by: "reservation"; readonly group: string; readonly uuid: string };

/** When what happened to a pod, milliseconds since the epoch by the cluster's clocks; absent where it has not. */
export interface PodTimes {
  readonly created: number;
  /** Kueue's Workload or the scheduling gates' queue took it in. */
  readonly queued?: number;
  readonly admitted?: number;
  /** Bound to its node (the condition PodScheduled). */
  readonly scheduled?: number;
  /** The last image that it needed to start was there. */
  readonly pulled?: number;
  /** The first of its containers ran; init containers are still a part of starting. */
  readonly started?: number;
  readonly ready?: number;
  /** Succeeded or Failed, as the last container's end says. */
  readonly finished?: number;
  /** When it was asked to end: `metadata.deletionTimestamp` without its grace. */
  readonly deletion?: number;
}

/** Why a pod ended. */
export type EndReason =
  | "completed"
  | "failed"
  | "evicted"
  | "preempted"
  | "out-of-memory"
  | "node-lost"
  | "deleted"
  | "unknown";

/** Pods that run only together. */
export interface Gang {
  /** Of what made it: PodGroup, PodGang, JobSet, Workload, LeaderWorkerSet. */
  readonly kind: string;
  readonly name: string;
  /** Pods that it needs; 0 where nothing says. */
  readonly size: number;
}

/** A pod that wants a GPU in any regime: the value of `gpu.workloads`. */
export interface WorkloadFact extends FactOrigin {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Where it is bound to; empty before. */
  readonly node: string;
  /** From the pod's controller up to the top; empty for a pod of its own. */
  readonly owners: readonly OwnerReference[];
  /** The chain ends at a kind that is not known, at one that may not be read, or at a loop. */
  readonly ownersTruncated: boolean;
  /** The top of the chain, or the pod itself. */
  readonly workload: { readonly kind: string; readonly name: string };
  readonly type: WorkloadType;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly times: PodTimes;
  readonly endReason?: EndReason;
  /** Why it is not scheduled or does not run, in Kubernetes' words: `Unschedulable`, `SchedulingGated`, `ImagePullBackOff`. */
  readonly pending?: { readonly reason: string; readonly message: string };
  readonly restarts: number;
  readonly asks: readonly GpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
  readonly queue?: string;
  readonly priorityClass?: string;
  readonly gang?: Gang;
  /** Those that the configuration names, of the pod and, where it lacks them, of its owners. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The same apart: the pod's own, and the owners', of which the nearest counts. Absent in facts of releases before 0.4. */
  readonly marks?: { readonly pod: Marks; readonly owners: Marks };
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Keys of the taints that it tolerates; `*` tolerates all. */
  readonly tolerations: readonly string[];
  /** Set when the pod is gone. */
  readonly end?: FactEnd;
}
