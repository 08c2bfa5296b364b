import type { CapacityType } from "../inventory.ts";
import type { CardSubject, Proposal, Refusal } from "./card.ts";
import type { Window, WorkloadEvidence } from "./evidence.ts";

/** The limits of the configuration by which cards are made. */
export interface AdviceRules {
  readonly window: Window;
  /** The least part of the held time that must have samples, 0 to 1. */
  readonly coverage: number;
  /** The part of memory and activity that stays free above the measured peak, 0 to 1. */
  readonly headroom: number;
  /** The fewest replicas of an inference service. */
  readonly minReplicas: number;
}

/** A kind of GPU that a workload can have: as machines of the fleet have it, or as the configuration allows it. */
export interface GpuShape {
  readonly model: string;
  /** The GPUs of a node; absent if only the price per GPU is known. */
  readonly nodeGpus?: number;
  readonly instanceType?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly pool?: string;
  readonly capacityType?: CapacityType;
}

/** The limits that a rule reads beside a workload, and the shapes that could cost less than its GPUs. */
export interface RuleContext extends AdviceRules {
  readonly shapes: readonly GpuShape[];
}

/** Returns the proposals for a workload, or the reason why there is none although the rule applies to it. */
export type WorkloadRule = (workload: WorkloadEvidence, context: RuleContext) => readonly Proposal[] | Refusal;

/** Returns the subject of a workload's card. */
export function subjectOf({ cluster, namespace, kind, workload, team, type }: WorkloadEvidence): CardSubject {
  return { cluster, namespace, kind, workload, team, type, pool: "", model: "" };
}

/** Returns the fields that name a workload in a what-if. */
export function whereOf({ cluster, namespace, kind, workload }: WorkloadEvidence): Readonly<Record<string, string>> {
  return { cluster, namespace, kind, workload };
}

/** Formats a part of 1 as a percentage with one digit: `97.2 %`. */
export function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

/** Formats memory in MiB as GiB with one digit. */
export function gib(mib: number): string {
  return `${(mib / 1024).toFixed(1)} GiB`;
}
