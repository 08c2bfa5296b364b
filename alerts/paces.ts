import { MINUTE_MILLIS } from "../domain/time.ts";
import type { AlertOptions } from "./options.ts";

/**
 * The intervals of rules that need not run with every scrape. The longest is four minutes: a recorded value is found for five minutes
 * (Prometheus' `--query.lookback-delta`). A series with an interval of five minutes would be missing if its next value is a moment late.
 */
export const PACE_MILLIS = {
  minute: MINUTE_MILLIS,
  twoMinutes: 2 * MINUTE_MILLIS,
  fourMinutes: 4 * MINUTE_MILLIS,
} as const;

/** Returns a pace in milliseconds, or that of the quick rules if it is slower. */
export function paceMillis({ intervalMillis }: AlertOptions, pace: keyof typeof PACE_MILLIS): number {
  return Math.max(PACE_MILLIS[pace], intervalMillis);
}
