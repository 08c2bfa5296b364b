import type { AlertOptions } from "./options.ts";

/**
 * How often rules are evaluated that need not be with every scrape. None is slower than four minutes: what was recorded is
 * found for five (Prometheus' `--query.lookback-delta`), and a series recorded every five would be missing whenever its next
 * value is a moment late.
 */
export const PACE_MILLIS = { minute: 60_000, twoMinutes: 120_000, fourMinutes: 240_000 } as const;

/** A pace, or that of the quick rules where these are slower. */
export function paceMillis({ intervalMillis }: AlertOptions, pace: keyof typeof PACE_MILLIS): number {
  return Math.max(PACE_MILLIS[pace], intervalMillis);
}
