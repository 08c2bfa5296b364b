import type { CountedGpus } from "../../domain/allocation/usage-hour.ts";
import type { GpuAt } from "../question/line.ts";
import type { ChargesQuestion, Filter } from "../question/question.ts";

/** The question of an explanation: some of the charges, such as a team's in a month, or everything of one GPU at one moment. */
export type Question = ChargesQuestion | LineAt;

/** The lines of a GPU at a moment. */
export interface LineAt extends GpuAt {
  readonly policy: string;
  /** Only lines with one of the values in each of these dimensions count. */
  readonly where: readonly Filter[];
}

/**
 * A part of the explained sum. Amounts are decimal texts: GPU-hours, money in the currency (unpriced hours have no cost), kWh at the GPU
 * and grams of CO₂e.
 */
export interface Part {
  readonly gpuHours: string;
  readonly cost: string;
  readonly unpricedGpuHours: string;
  /** Null if no energy was measured. */
  readonly kWh: string | null;
  /** Null if no energy was measured, or if its emission is unknown. */
  readonly carbonGrams: string | null;
}

/** The reasons of a sum of charges, from the charges down to the samples. Each list adds up to the whole sum, highest cost first. */
export interface Explanation extends Part {
  readonly question: Question;
  /** The states, with the payer of each. */
  readonly states: readonly (Part & { readonly state: string; readonly because: string; readonly payer: string })[];
  /** The name of the rule that assigned the team; empty if none did. */
  readonly owners: readonly (Part & { readonly team: string; readonly rule: string })[];
  /** The name of the price entry, and the time since when the entry has priced those machines; empty if there is none. */
  readonly prices: readonly (Part & { readonly price: string; readonly since: string })[];
  readonly workloads: readonly (Part & {
    readonly namespace: string;
    readonly workloadKind: string;
    readonly workload: string;
    readonly pods: number;
  })[];
  /** The evidence of the holders. */
  readonly evidence: readonly (Part & { readonly attribution: string })[];
  /** The lines with the highest cost, or those of a requested part, with their segments. */
  readonly lines: readonly ExplainedLine[];
  /** The number of all lines. */
  readonly lineCount: number;
}

/** A charge, down to the samples. Times are ISO 8601. */
export interface ExplainedLine extends Part {
  readonly cluster: string;
  readonly node: string;
  readonly gpu: number | null;
  readonly from: string;
  readonly until: string;
  readonly state: string;
  readonly team: string;
  readonly namespace: string;
  readonly pod: string;
  readonly attribution: string;
  /** The part of the GPU in its regime, and the part after division by the oversubscription. */
  readonly rawShare: string;
  readonly share: string;
  readonly price: string;
  /** The month in which the line is booked, and whether the line corrects a closed line. */
  readonly billingPeriod: string;
  readonly isCorrection: boolean;
  /** The source of the pod's facts if an import made them, and the data that they lack; null if a collector saw the pod. */
  readonly imported: string | null;
  /** The meter's result; null if the line is of no GPU, or if it was not requested. */
  readonly segment: ExplainedSegment | null;
}

/** The meter's result for the GPU over the segment of a line, and for the line's holder. */
export interface ExplainedSegment {
  readonly from: string;
  readonly until: string;
  readonly gpuKey: string;
  readonly gpuAt: unknown;
  /** The source of the number of GPUs of the node; empty without Kubernetes, and in hours of releases before 0.4. */
  readonly counted: readonly CountedGpus[];
  readonly unavailableBecause: string;
  readonly samples: number;
  /** The times of the holder's first and last sample; null if there is none. */
  readonly firstSample: string | null;
  readonly lastSample: string | null;
  readonly coveredMillis: number;
  readonly activeMillis: number;
  /** The time for which the energy of the GPU is known. */
  readonly energyCoveredMillis: number;
  /** The mean activity over the covered time, in parts per million of the device; null if nothing was covered. */
  readonly activityPpm: number | null;
}
