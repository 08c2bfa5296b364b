import type { AlertOptions } from "./options.ts";

/**
 * The intervals of rules that need not run with every scrape. The longest is four minutes: a recorded value is found for five minutes
 * (Prometheus' `--query.lookback-delta`). A series with an interval of five minutes would be missing if its next value is a moment late.
 */
export const PACE_MILLIS = { minute: 60_000, twoMinutes: 120_000, fourMinutes: 240_000 } as const;

/** Returns a pace, or that of the quick rules if it is slower. */
export function paceMillis({ intervalMillis }: AlertOptions, pace: keyof typeof PACE_MILLIS): number {
  return Math.max(PACE_MILLIS[pace], intervalMillis);
}
