import type { CountedGpus } from "../../domain/allocation/usage-hour.ts";
import type { GpuAt } from "../question/line.ts";
import type { ChargesQuestion, Filter } from "../question/question.ts";

/** What is asked: some of the charges, such as a team's of a month; or everything of one GPU at one moment. */
export type Question = ChargesQuestion | LineAt;

/** The lines of a GPU that hold at a moment. */
export interface LineAt extends GpuAt {
  readonly policy: string;
  /** Of them those that have one of the values in each of these dimensions. */
  readonly where: readonly Filter[];
}

/**
 * A part of what is explained. Amounts are decimal texts: GPU-hours, in the currency (unpriced hours have no cost), kWh at the GPU and
 * grams of CO₂e.
 */
export interface Part {
  readonly gpuHours: string;
  readonly cost: string;
  readonly unpricedGpuHours: string;
  /** Null where no energy was measured. */
  readonly kWh: string | null;
  /** Null where no energy was measured, or nothing says what it emits. */
  readonly carbonGrams: string | null;
}

/** Why a sum of charges is what it is, from the charge down to the samples: each list has all of the sum, the dearest first. */
export interface Explanation extends Part {
  readonly question: Question;
  /** Which state, who pays for it. */
  readonly states: readonly (Part & { readonly state: string; readonly because: string; readonly payer: string })[];
  /** The name of the rule that named the team; empty where none did. */
  readonly owners: readonly (Part & { readonly team: string; readonly rule: string })[];
  /** The name of the entry in the price book, and since when the entry has priced those machines; empty where none does. */
  readonly prices: readonly (Part & { readonly price: string; readonly since: string })[];
  readonly workloads: readonly (Part & {
    readonly namespace: string;
    readonly workloadKind: string;
    readonly workload: string;
    readonly pods: number;
  })[];
  /** How it is known who held what. */
  readonly evidence: readonly (Part & { readonly attribution: string })[];
  /** The dearest lines, with the segments that they are of. */
  readonly lines: readonly ExplainedLine[];
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
  /** Of the GPU, as its regime has it, and after oversubscription was divided away. */
  readonly rawShare: string;
  readonly share: string;
  readonly price: string;
  /** The month that it is booked in, and whether it corrects one that was closed. */
  readonly billingPeriod: string;
  readonly isCorrection: boolean;
  /** What the meter found; null where the line is of no GPU, or nobody asked. */
  readonly segment: ExplainedSegment | null;
}

/** What the meter found of the GPU over the segment of a line, and of the line's holder. */
export interface ExplainedSegment {
  readonly from: string;
  readonly until: string;
  readonly gpuKey: string;
  readonly gpuAt: unknown;
  /** What has counted the GPUs of the node; empty without Kubernetes, and in hours of releases before 0.4. */
  readonly counted: readonly CountedGpus[];
  readonly unavailableBecause: string;
  readonly samples: number;
  /** Of the first and the last sample that speak for the holder; null where none does. */
  readonly firstSample: string | null;
  readonly lastSample: string | null;
  readonly coveredMillis: number;
  readonly activeMillis: number;
  /** For how much of it the energy of the GPU is known. */
  readonly energyCoveredMillis: number;
  /** Mean activity over the covered time, in parts per million of the device; null where nothing was covered. */
  readonly activityPpm: number | null;
}
