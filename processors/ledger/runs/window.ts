/** The arithmetic of windows: the hours that a scrape affects, and the time that a sample covers. */

import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/** The bucket of the short rollup. */
export const FIVE_MINUTES_MILLIS = 300_000;

/** 2.5 × the longest interval that the configuration allows. A longer interval is an error of its sender. */
export const LONGEST_REACH_MILLIS = 9_000_000;

/** Returns the longest time that a sample covers, in whole milliseconds: 2.5 of its intervals, so that one lost scrape is not a gap. */
export function reachMillis(intervalMillis: number): number {
  return Math.min(Math.floor((intervalMillis * 5) / 2), LONGEST_REACH_MILLIS);
}

/** {@link reachMillis} of the column `interval_ms`, as SQL. */
export const REACH_SQL = `least(intDiv(toInt64(interval_ms) * 5, 2), ${LONGEST_REACH_MILLIS})`;

/**
 * Returns the starts of the hours whose rows a scrape can change: those that overlap `[t − 2.5 × interval, t + 2.5 × interval]`. Before t,
 * the scrape ends the time that the previous sample covers; after t, it covers time itself.
 */
export function hoursTouched(scrapedAtMillis: number, intervalMillis: number): readonly number[] {
  const reach = reachMillis(intervalMillis);
  const hours: number[] = [];
  const last = hourOf(scrapedAtMillis + reach);
  for (let hour = hourOf(scrapedAtMillis - reach); hour <= last; hour += HOUR_MILLIS) hours.push(hour);
  return hours;
}

/** {@link hoursTouched} of a row of `scrapes` as SQL. The values are hours since the epoch. */
export const HOURS_TOUCHED_SQL = `range(
  toUInt64(greatest(0, intDiv(toUnixTimestamp64Milli(scraped_at) - ${REACH_SQL}, ${HOUR_MILLIS}))),
  toUInt64(greatest(0, intDiv(toUnixTimestamp64Milli(scraped_at) + ${REACH_SQL}, ${HOUR_MILLIS}))) + 1)`;
