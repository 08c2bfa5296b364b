/** The arithmetic of windows: which hours a scrape has a say in, and for how long a sample speaks. */

import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/** The short rollup's bucket. */
export const FIVE_MINUTES_MILLIS = 300_000;

/** 2.5 × the longest interval that the configuration allows; an interval beyond it is an error of its sender. */
export const LONGEST_REACH_MILLIS = 9_000_000;

/** How long a sample speaks at most, in whole milliseconds: 2.5 of its intervals, so that one lost scrape is no gap. */
export function reachMillis(intervalMillis: number): number {
  return Math.min(Math.floor((intervalMillis * 5) / 2), LONGEST_REACH_MILLIS);
}

/** {@link reachMillis} of the column `interval_ms`. */
export const REACH_SQL = `least(intDiv(toInt64(interval_ms) * 5, 2), ${LONGEST_REACH_MILLIS})`;

/**
 * The starts of the hours whose rows a scrape can change: those that meet `[t − 2.5 × interval, t + 2.5 × interval]`.
 * Before t it changes for how long the sample before it speaks, after t it speaks itself.
 */
export function hoursTouched(scrapedAtMillis: number, intervalMillis: number): readonly number[] {
  const reach = reachMillis(intervalMillis);
  const hours: number[] = [];
  const last = hourOf(scrapedAtMillis + reach);
  for (let hour = hourOf(scrapedAtMillis - reach); hour <= last; hour += HOUR_MILLIS) hours.push(hour);
  return hours;
}

/** {@link hoursTouched} of a row of `scrapes`, as numbers of hours since the epoch. */
export const HOURS_TOUCHED_SQL = `range(
  toUInt64(greatest(0, intDiv(toUnixTimestamp64Milli(scraped_at) - ${REACH_SQL}, ${HOUR_MILLIS}))),
  toUInt64(greatest(0, intDiv(toUnixTimestamp64Milli(scraped_at) + ${REACH_SQL}, ${HOUR_MILLIS}))) + 1)`;
