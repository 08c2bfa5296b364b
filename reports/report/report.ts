import type { ChargeState } from "../../domain/charge/charge.ts";
import type { Span } from "../question/span.ts";
import type { Filter, ReportKind } from "../question/question.ts";

/**
 * What charges come to. Amounts are exact decimal texts, in the currency, in GPU-hours, kWh at the GPU and grams of CO₂e; what is
 * divided is rounded half to even, ratios to six digits, money to nine.
 */
export interface Measures {
  /** All GPU-time that is charged for, unpriced time included. */
  readonly gpuHours: string;
  /** Of it, what workloads held and could use, and what was active. */
  readonly heldGpuHours: string;
  readonly activeGpuHours: string;
  readonly list: string;
  readonly contracted: string;
  /** The effective cost: what is charged. */
  readonly cost: string;
  /** Of the cost, what is power. */
  readonly power: string;
  /** The cost by state; states that cost nothing are left out. */
  readonly states: Readonly<Partial<Record<ChargeState, string>>>;
  /** GPU-hours by state; states of none are left out. */
  readonly stateGpuHours: Readonly<Partial<Record<ChargeState, string>>>;
  /** Of the cost, what corrects earlier charges. */
  readonly corrections: string;
  /** GPU-hours for which no price is visible: they have no cost. */
  readonly unpricedGpuHours: string;
  /** The part of what was held for which telemetry exists; null where nothing was held. */
  readonly coverage: string | null;
  /** The whole cost by each priced GPU-hour that was held, and by each that was active; null where there was none. */
  readonly costPerHeldGpuHour: string | null;
  readonly costPerActiveGpuHour: string | null;
  /** Null where no energy was measured, or nothing says what it emits. */
  readonly kWh: string | null;
  readonly carbonGrams: string | null;
  readonly lines: number;
}

/** A row: lines that agree in the dimensions that were asked for. */
export interface ReportRow extends Measures {
  /** In the order in which they were asked for. */
  readonly dimensions: Readonly<Record<string, string>>;
  /** The cost of as long a time before, and what it has become more; null where a report has no trend. */
  readonly before: string | null;
  readonly change: string | null;
}

/** What a span comes to under one policy, in rows. The rows' costs and hours sum to the total's, exactly. */
export interface Report {
  readonly policy: string;
  readonly kind: ReportKind;
  readonly span: Span;
  /** Until when the span is charged, of an hour that runs until its charges were made, in milliseconds since the epoch; null where nothing is. */
  readonly chargedUntil: number | null;
  readonly by: readonly string[];
  /** Which lines are in it; all where there is no condition. */
  readonly where: readonly Filter[];
  readonly currency: string;
  /** As long a time as is charged of the span, before it; null where rows say when, and where charges begin later than that time. */
  readonly comparedWith: Span | null;
  readonly total: Omit<ReportRow, "dimensions">;
  /** The dearest first, then by what the dimensions say; where the first of them says when, in the order of time. */
  readonly rows: readonly ReportRow[];
}
