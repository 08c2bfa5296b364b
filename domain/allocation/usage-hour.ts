import type { Evidence } from "../holder.ts";
import type { CapacityType, NodeGpus } from "../inventory.ts";
import type { WorkloadFact, WorkloadType } from "../workload.ts";
import type { UsageSegment } from "./segment.ts";

/**
 * A usage row of the meter: the state and activity of one slot over a segment of an hour, with all fields that prices, owners and bills
 * need.
 */
export interface UsageHour {
  readonly cluster: string;
  readonly node: string;
  /** The GPU's index on its machine. */
  readonly slot: number;
  /** The key of the GPU in the slot; empty if no sample showed one. */
  readonly gpuKey: string;
  readonly segment: UsageSegment;
  readonly machine: UsageMachine;
  /** The holders of the segment's claims, in the same order. */
  readonly holders: readonly UsageHolder[];
  readonly telemetry: readonly Telemetry[];
}

/** A machine as prices see it. Unknown fields are absent. */
export interface UsageMachine {
  /** The UID of the Node; absent without Kubernetes. */
  readonly machine?: string;
  /** `appearedAt` is when the slot appeared; `since` is when the other fields last changed. Milliseconds since the epoch. */
  readonly appearedAt: number;
  readonly since: number;
  /** The number of GPUs that the machine was delivered with. */
  readonly delivered: number;
  /** The counts of the Node's GPUs with their sources and contradictions; absent without Kubernetes. */
  readonly counted?: readonly CountedGpus[];
  readonly instanceType?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly pool?: string;
  readonly capacityType?: CapacityType;
  readonly labels: Readonly<Record<string, string>>;
}

/** The count of GPUs of one kind, with its source. */
export type CountedGpus = Pick<NodeGpus, "count" | "countedBy" | "otherCount">;

/** The holder of a claim, and the evidence for it. */
export interface UsageHolder {
  readonly evidence: Evidence;
  readonly kind: "pod" | "job" | "stranger";
  readonly namespace: string;
  /** The pod, or the job without Kubernetes. */
  readonly name: string;
  /** Since when the holder has held, milliseconds since the epoch; absent if no fact has it. */
  readonly since?: number;
  readonly workloadKind: string;
  readonly workload: string;
  readonly type: WorkloadType;
  readonly queue: string;
  readonly priorityClass: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The same labels and annotations, the pod's and its owners' kept apart (WorkloadFact.marks). */
  readonly marks?: NonNullable<WorkloadFact["marks"]>;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly namespaceAnnotations: Readonly<Record<string, string>>;
}

/** The samples from which a claim's figures come. */
export interface Telemetry {
  readonly samples: number;
  /** Milliseconds since the epoch; 0 if there was no sample. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly activityMaxPpm: number;
  readonly memoryMaxMiB: number;
}
