import type { LedgerTiming, ScheduleTiming } from "./schedule.ts";

/** The intervals of a term's work. */
export interface TermTiming extends ScheduleTiming, LedgerTiming {
  readonly lookMillis: number;
  readonly dropMillis: number;
  /** The distance of the watermark from the newest position. */
  readonly overlapMillis: number;
  /** How long after its end an hour is settled. */
  readonly settleMillis: number;
}

/** The timing of the service, in addition to the schedule's. */
export const TERM_TIMING = {
  lookMillis: 30_000,
  dropMillis: 600_000,
  overlapMillis: 300_000,
  settleMillis: 600_000,
  ledgerRows: 500,
  ledgerCostFactor: 10,
} as const;
