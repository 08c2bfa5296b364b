import type { GpuHours, Money } from "../exact/units.ts";
import type { InventoryFact } from "../inventory.ts";
import type { MigMeasure } from "../share/mig-shape.ts";
import type { ClusterFactBodies, GpuAmounts } from "../cluster-fact.ts";
import type { WorkloadFact, WorkloadType } from "../workload.ts";

/** The published charges of something over the days of the practices, under the billing policy. */
export interface Spend {
  readonly cost: Money;
  /** The part of the cost in the state `idle`. */
  readonly idle: Money;
  /** The part of the cost in the state `waiting`: GPUs that an incomplete gang held. */
  readonly waiting: Money;
  /** The part of the cost in the state `unallocated`. */
  readonly unallocated: Money;
  /** The part of the cost in the state `stranded`: rests of MIG GPUs in which no further instance fits. */
  readonly stranded: Money;
  readonly gpuHours: GpuHours;
  readonly heldGpuHours: GpuHours;
  readonly unallocatedGpuHours: GpuHours;
}

/** A workload with its pods that have not ended. */
export interface PracticeWorkload {
  readonly cluster: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly team: string;
  readonly type: WorkloadType;
  /** At least one. */
  readonly pods: readonly WorkloadFact[];
  readonly spend: Spend;
  /** The practices from which its pods, their owners or its namespace are exempt. */
  readonly exempt: ReadonlySet<string>;
}

/** A pod with a limit of time that has succeeded. */
export interface LimitedPod {
  /** The UID of the Job of the pod; without a Job the pod's own. The limit of a Job covers all of its pods. */
  readonly run: string;
  /** When the pod was bound, or else when it started: milliseconds since the epoch. */
  readonly begun: number;
  readonly finished: number;
  readonly limitSeconds: number;
  /** Whole GPUs. */
  readonly gpus: number;
}

/** A workload with pods that have a limit of time and have succeeded in the days. */
export interface LimitedWorkload extends Omit<PracticeWorkload, "pods"> {
  /** At most 500, those that ended last. */
  readonly ended: readonly LimitedPod[];
}

/** The samples of a node's exporters. */
export interface NodeTelemetry {
  /** True if a scrape of the last day had devices. */
  readonly hasSamples: boolean;
  /** True if the last samples have a counter of DCGM's profiling; undefined if there are no last samples. */
  readonly hasProfiling: boolean | undefined;
}

/** A node with GPUs that exists now. */
export interface PracticeNode extends InventoryFact {
  readonly spend: Spend;
  readonly telemetry: NodeTelemetry;
  readonly exempt: ReadonlySet<string>;
}

/** A quota of GPUs. */
export interface PracticeQuota {
  readonly name: string;
  readonly hard: GpuAmounts;
  /** The most of each resource that was in use at once in the days of the practices. Absent for a resource that is newer than the days. */
  readonly most: GpuAmounts;
}

/** A queue of a scheduler, as it is now. */
export type PracticeQueue = ClusterFactBodies["Queue"] & {
  readonly cluster: string;
  /** As kubectl names it: `clusterqueues.kueue.x-k8s.io`. */
  readonly resource: string;
  readonly name: string;
  /** The most of each resource that was admitted at once, like {@link PracticeQuota.most}. */
  readonly most: GpuAmounts;
};

/** A namespace with a quota of GPUs, or with workloads that use GPUs, now or in the days of the practices. */
export interface PracticeNamespace {
  readonly cluster: string;
  readonly name: string;
  readonly team: string;
  readonly cost: Money;
  /** The GPUs that its pods request now, by resource. */
  readonly requested: GpuAmounts;
  readonly quotas: readonly PracticeQuota[];
  readonly limitRanges: number;
  readonly exempt: ReadonlySet<string>;
}

/** A node pool: its nodes now, and whether one of its nodes has left in the days of the practices. */
export interface PracticePool {
  readonly cluster: string;
  readonly name: string;
  readonly nodes: readonly PracticeNode[];
  readonly hasShrunk: boolean;
  readonly spend: Spend;
}

/** The facts and charges that the checks read. */
export interface PracticeFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The days before `now` to which charges belong. */
  readonly days: number;
  readonly workloads: readonly PracticeWorkload[];
  readonly limited: readonly LimitedWorkload[];
  readonly nodes: readonly PracticeNode[];
  readonly namespaces: readonly PracticeNamespace[];
  readonly pools: readonly PracticePool[];
  readonly queues: readonly PracticeQueue[];
  /** The measure of a MIG instance in the billing policy, by which rests of GPUs are charged. */
  readonly migMeasure: MigMeasure;
  /** Returns a node by its cluster and name. */
  nodeOf(cluster: string, node: string): PracticeNode | undefined;
  /** Returns the value of a priority class; undefined for an unknown one. */
  priorityOf(cluster: string, name: string): number | undefined;
}
