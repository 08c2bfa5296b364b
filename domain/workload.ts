import type { PodCompute } from "./compute.ts";
import type { FactEnd, FactOrigin } from "./fact.ts";
import type { Marks } from "./marks.ts";
import type { TrainingMarks } from "./training-marks.ts";

/** The kinds of workload that dashboards group by. */
export type WorkloadType = "training" | "inference" | "notebook" | "other";

/** An object in the owner chain of a pod, up to the object that a person created. */
export interface OwnerReference {
  /** For example `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * A pod's request of one resource. GPUs are in limits. Init containers reserve their maximum, sidecars add up: the effective
 * request of a pod in Kubernetes' scheduler.
 */
export type GpuAsk =
  /** Whole GPUs, or replicas if the node shares its GPUs by time-slicing or MPS. `resource` and the node decide which. */
  | { readonly kind: "gpu"; readonly resource: string; readonly count: number }
  /** MIG instances of one profile, in NVIDIA's notation: `1g.10gb+me`. */
  | { readonly kind: "mig"; readonly resource: string; readonly profile: string; readonly count: number }
  /** Shares of GPUs by HAMi (of NVIDIA's or AMD's GPUs) or Volcano: memory in MiB or percent, cores in percent, of each of `count` GPUs. */
  | {
      readonly kind: "vgpu";
      readonly scheduler: "hami" | "hami-amd" | "volcano";
      readonly count: number;
      readonly memoryMiB?: number;
      readonly memoryPercent?: number;
      readonly coresPercent?: number;
    }
  /** A fraction of each of `count` GPUs by KAI or Run:ai: parts per million of a GPU, or memory in MiB. */
  | {
      readonly kind: "fraction";
      readonly count: number;
      readonly ppm?: number;
      readonly memoryMiB?: number;
    }
  /**
   * A DRA claim by its name in the pod's namespace. The claim's fact holds its devices. The name is empty until the claim is created from
   * its template.
   */
  | { readonly kind: "claim"; readonly claim: string };

/** Evidence of which device a pod has, with its source. */
export type DeviceEvidence =
  /**
   * The kubelet's entry in the pod's status, with the device plugin's device id: a UUID, a PCI address, or an index with the number of a
   * MIG instance. `units` count the resource: replicas of a shared device.
   */
  | {
      readonly by: "status";
      readonly uuid?: string;
      readonly pciBusId?: string;
      readonly gpuIndex?: number;
      readonly instance?: number;
      readonly units: number;
      /** The device plugin reports the device as unhealthy. */
      readonly isUnhealthy?: true;
      /** The times at which a watcher saw the device unhealthy, in order of time. */
      readonly unhealthy?: readonly { readonly from: number; readonly until?: number }[];
    }
  /**
   * The allocation annotations of HAMi and Volcano: one entry for each device and container. Run:ai's dynamic MIG names an instance by its
   * own UUID instead, without memory and cores.
   */
  | {
      readonly by: "annotation";
      readonly uuid: string;
      readonly container: number;
      readonly memoryMiB: number;
      readonly coresPercent: number;
      /** HAMi allocated a MIG instance of this GPU, with this memory. */
      readonly isInstance?: true;
      /** For a MIG instance: the index of its GPU on the node, and its number on that GPU (`GPU_I_ID`). */
      readonly gpuIndex?: number;
      readonly instance?: number;
    }
  /** A group of KAI or Run:ai, whose reservation pod names the GPU. */
  | { readonly by: "group"; readonly group: string }
  /** A reservation pod: its group has this GPU. The pod itself holds nothing. */
  | { readonly by: "reservation"; readonly group: string; readonly uuid: string };

/** The times of a pod's events, milliseconds since the epoch by the cluster's clocks. Absent if the event has not happened. */
export interface PodTimes {
  readonly created: number;
  /** Queued by Kueue's Workload or by a scheduling gate. */
  readonly queued?: number;
  readonly admitted?: number;
  /** Bound to its node (the condition PodScheduled). */
  readonly scheduled?: number;
  /** The last image that the pod needed to start was pulled. */
  readonly pulled?: number;
  /** The first container ran. Init containers still belong to the start. */
  readonly started?: number;
  readonly ready?: number;
  /** Succeeded or Failed: the end of the last container. */
  readonly finished?: number;
  /** When the deletion was requested: `metadata.deletionTimestamp` minus the grace period. */
  readonly deletion?: number;
}

/** The reason why a pod ended. */
export type EndReason =
  | "completed"
  | "failed"
  | "evicted"
  | "preempted"
  | "out-of-memory"
  | "node-lost"
  | "deleted"
  | "unknown";

/** A gang: pods that run only together. */
export interface Gang {
  /** The kind of the object that defines the gang: PodGroup, PodGang, JobSet, Workload, LeaderWorkerSet. */
  readonly kind: string;
  readonly name: string;
  /** Pods that the gang needs; 0 if unknown. */
  readonly size: number;
}

/** The part of a pod's spec that names checkpoints. Only the kind is kept, because the values can be secret. */
export type CheckpointEvidence = "argument" | "environment" | "mount" | "mark";

/**
 * The annotation that an import adds to the facts of pods. Its value names the source, and the data that the source lacks:
 * `Prometheus, without labels`.
 */
export const IMPORTED_MARK = "gpu-ledger/imported";

/** A pod that requests a GPU in any regime: the value of `gpu.workloads`. */
export interface WorkloadFact extends FactOrigin {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The node that the pod is bound to; empty before that. */
  readonly node: string;
  /** From the pod's controller up to the top; empty for a pod without a controller. */
  readonly owners: readonly OwnerReference[];
  /** The chain ends at an unknown kind, at an object that may not be read, or at a loop. */
  readonly ownersTruncated: boolean;
  /** The top of the owner chain, or the pod itself. */
  readonly workload: { readonly kind: string; readonly name: string };
  readonly type: WorkloadType;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly times: PodTimes;
  readonly endReason?: EndReason;
  /** Why the pod is not scheduled or does not run, in Kubernetes' words: `Unschedulable`, `SchedulingGated`, `ImagePullBackOff`. */
  readonly pending?: { readonly reason: string; readonly message: string };
  readonly restarts: number;
  readonly asks: readonly GpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
  readonly queue?: string;
  readonly priorityClass?: string;
  readonly gang?: Gang;
  /** The labels that the configuration names: the pod's own and, where the pod lacks them, its owners'. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /**
   * The same labels and annotations kept apart: the pod's own, and its owners', of which the nearest counts. Absent in facts of releases
   * before 0.4.
   */
  readonly marks?: { readonly pod: Marks; readonly owners: Marks };
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Keys of the taints that the pod tolerates; `*` tolerates all. */
  readonly tolerations: readonly string[];
  /** The CPU and memory of the pod. This field and the next ones are absent in facts of releases before 0.4. */
  readonly compute?: PodCompute;
  /** Images without a digest and without a tag other than `latest`; at most a few. Empty if all images are pinned. */
  readonly unpinnedImages?: readonly string[];
  /** Where the spec names checkpoints; `none` if nowhere. */
  readonly checkpoints?: CheckpointEvidence | "none";
  /** `activeDeadlineSeconds` of the pod, otherwise of its Job; also absent if neither has one. */
  readonly deadlineSeconds?: number;
  /** Names of the PodDisruptionBudgets that select the pod. Also absent if the budgets may not be read. */
  readonly disruptionBudgets?: readonly string[];
  /** The reports of a training in annotations or labels of the pod, otherwise of its owners. Bills do not depend on them. */
  readonly training?: TrainingMarks;
  /** Set when the pod no longer exists. */
  readonly end?: FactEnd;
}
