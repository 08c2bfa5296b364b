import type { Evidence } from "../holder.ts";
import type { CapacityType, NodeGpus } from "../inventory.ts";
import type { WorkloadFact, WorkloadType } from "../workload.ts";
import type { UsageSegment } from "./segment.ts";

/** A row of the meter: what one slot was and did over a segment of an hour, and all that prices, owners and bills ask for. */
export interface UsageHour {
  readonly cluster: string;
  readonly node: string;
  /** The GPU's index on its machine. */
  readonly slot: number;
  /** Of the GPU that sat there; empty where no sample told of one. */
  readonly gpuKey: string;
  readonly segment: UsageSegment;
  readonly place: UsagePlace;
  /** Beside the segment's claims, in their order. */
  readonly holders: readonly UsageHolder[];
  readonly telemetry: readonly Telemetry[];
}

/** A machine as prices look at it. What is not known is left out. */
export interface UsagePlace {
  /** Of the Node; absent without Kubernetes. */
  readonly machine?: string;
  /** When the slot appeared, and since when the rest of this has been as it is; milliseconds since the epoch. */
  readonly appearedAt: number;
  readonly since: number;
  /** GPUs that the machine was delivered with. */
  readonly delivered: number;
  /** What has counted the GPUs of the Node, and what contradicts that; absent without Kubernetes. */
  readonly counted?: readonly CountedGpus[];
  readonly instanceType?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly pool?: string;
  readonly capacityType?: CapacityType;
  readonly labels: Readonly<Record<string, string>>;
}

/** GPUs of one kind as they were counted. */
export type CountedGpus = Pick<NodeGpus, "count" | "countedBy" | "otherCount">;

/** Who has a claim, and how that is known. */
export interface UsageHolder {
  readonly evidence: Evidence;
  readonly kind: "pod" | "job" | "stranger";
  readonly namespace: string;
  /** The pod, or the job where there is no Kubernetes. */
  readonly name: string;
  /** Since when it has held; absent where no fact tells. */
  readonly since?: number;
  readonly workloadKind: string;
  readonly workload: string;
  readonly type: WorkloadType;
  readonly queue: string;
  readonly priorityClass: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The same of the pod and of its owners apart (WorkloadFact.marks). */
  readonly marks?: NonNullable<WorkloadFact["marks"]>;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly namespaceAnnotations: Readonly<Record<string, string>>;
}

/** The samples behind a claim's figures. */
export interface Telemetry {
  readonly samples: number;
  /** Milliseconds since the epoch; 0 where there was none. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly activityMaxPpm: number;
  readonly memoryMaxMiB: number;
}
