import type { Fleet } from "../fleet/fleet.ts";
import { COLLECT_MILLIS, type FleetNode } from "../fleet/node.ts";
import { missingRanges, type Range } from "./ranges.ts";
import { dayOf, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const MOST_ROWS = 400_000;
/** Each divides an hour, so that the times of a coarser grid are also times of a finer one. */
const INTERVALS: readonly number[] = [
  COLLECT_MILLIS,
  ...[1, 2, 5, 10, 15, 20, 30, 60].map((minutes) => minutes * MINUTE_MILLIS),
];

/** Returns the maximum of rows of one page: instances and, on a time-sliced GPU, the GPU and each of its holders. */
export function mostRowsOf({ gpus, sharing }: FleetNode): number {
  const extra = sharing === "time-slicing" ? 1 : 0;
  return gpus.reduce((sum, { slots }) => sum + Math.max(1, slots.length) + extra, 0);
}

/** Returns the shortest interval at which the history of a fleet has at most 400,000 rows; else the longest interval. */
export function thinnedInterval({ nodes }: Fleet, historyMillis: number): number {
  const rows = nodes.reduce((sum, node) => sum + mostRowsOf(node), 0);
  return INTERVALS.find((interval) => (historyMillis / interval) * rows <= MOST_ROWS) ?? HOUR_MILLIS;
}

/** A stretch of the past and the interval of its scrapes. */
export interface Stretch {
  readonly range: Range;
  readonly intervalMillis: number;
}

/**
 * Returns the missing stretches of a past, newest first: the recent ones at the fleet's interval, older ones with one scrape an hour, so
 * that whole months have their charges soon.
 */
export function missingPast(
  fleet: Fleet,
  past: { readonly fromMillis: number; readonly recentMillis: number; readonly nowMillis: number },
  known: readonly Range[],
): readonly Stretch[] {
  const { fromMillis, recentMillis, nowMillis } = past;
  const recentFrom = nowMillis - recentMillis;
  const stretches = (range: Range, intervalMillis: number): readonly Stretch[] =>
    missingRanges(range, known)
      .toReversed()
      .map((missing) => ({ range: missing, intervalMillis }));
  return [
    ...stretches([recentFrom, nowMillis], thinnedInterval(fleet, recentMillis)),
    ...stretches([fromMillis, recentFrom], HOUR_MILLIS),
  ];
}

/** Returns the times of an interval's grid in a stretch. */
export function gridTimes([from, until]: Range, intervalMillis: number): readonly number[] {
  const times: number[] = [];
  const first = Math.ceil(from / intervalMillis) * intervalMillis;
  for (let time = first; time < until; time += intervalMillis) times.push(time);
  return times;
}

/** The scrapes of a target in one chunk. Chunks of all intervals divide a day. */
const SCRAPES_A_CHUNK = 12;

/** Divides a stretch into chunks of whole hours with at least 12 scrapes: newest day first, and its chunks oldest first. */
export function chunksOf({ range: [from, until], intervalMillis }: Stretch): readonly Range[] {
  const length = Math.max(HOUR_MILLIS, SCRAPES_A_CHUNK * intervalMillis);
  const chunks: Range[] = [];
  for (let at = from; at < until;) {
    const end = Math.min(until, (Math.floor(at / length) + 1) * length);
    chunks.push([at, end]);
    at = end;
  }
  return chunks.toSorted((a, b) => dayOf(b[0]) - dayOf(a[0]) || a[0] - b[0]);
}
