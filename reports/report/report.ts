import type { ChargeState } from "../../domain/charge/charge.ts";
import type { Span } from "../question/span.ts";
import type { Filter, ReportKind } from "../question/question.ts";

/**
 * The sums of charges. Amounts are exact decimal texts, in the currency, in GPU-hours, kWh at the GPU and grams of CO₂e. Quotients are
 * rounded half to even, ratios to six digits, money to nine.
 */
export interface Measures {
  /** All charged GPU-time, including unpriced time. */
  readonly gpuHours: string;
  /** The part that workloads held and could use, and the active part. */
  readonly heldGpuHours: string;
  readonly activeGpuHours: string;
  readonly list: string;
  readonly contracted: string;
  /** The effective cost: what is charged. */
  readonly cost: string;
  /** The part of the cost that is power. */
  readonly power: string;
  /** The cost by state; states without cost are left out. */
  readonly states: Readonly<Partial<Record<ChargeState, string>>>;
  /** GPU-hours by state; states without hours are left out. */
  readonly stateGpuHours: Readonly<Partial<Record<ChargeState, string>>>;
  /** The part of the cost that corrects earlier charges. */
  readonly corrections: string;
  /** GPU-hours without a visible price. They have no cost. */
  readonly unpricedGpuHours: string;
  /** The part of the held time with telemetry; null if nothing was held. */
  readonly coverage: string | null;
  /** The whole cost for each priced GPU-hour that was held, and for each that was active; null if there was none. */
  readonly costPerHeldGpuHour: string | null;
  readonly costPerActiveGpuHour: string | null;
  /** Null if no energy was measured, or if its emission is unknown. */
  readonly kWh: string | null;
  readonly carbonGrams: string | null;
  readonly lines: number;
}

/** A row: lines that are equal in the requested dimensions. */
export interface ReportRow extends Measures {
  /** In the requested order. */
  readonly dimensions: Readonly<Record<string, string>>;
  /** The cost of the time before, with the same length, and the difference; null if a report has no trend. */
  readonly before: string | null;
  readonly change: string | null;
}

/** The sums of a span under one policy, in rows. The rows' costs and hours add up exactly to the total's. */
export interface Report {
  readonly policy: string;
  readonly kind: ReportKind;
  readonly span: Span;
  /**
   * The end of the charged part of the span, milliseconds since the epoch. For the current hour, the time of its charges. Null if nothing
   * is charged.
   */
  readonly chargedUntil: number | null;
  readonly by: readonly string[];
  /** The conditions on lines; empty for all lines. */
  readonly where: readonly Filter[];
  readonly currency: string;
  /** The prices of open charges: those of a price book, or public list prices, which apply without a book. */
  readonly prices: "book" | "list";
  /** The time before the span, with the length of the charged part; null if rows have times, or if charges begin after that time. */
  readonly comparedWith: Span | null;
  readonly total: Omit<ReportRow, "dimensions">;
  /** Highest cost first, then by dimensions. If the first dimension is a time, in the order of time. */
  readonly rows: readonly ReportRow[];
}
