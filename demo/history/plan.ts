import type { Fleet } from "../fleet/fleet.ts";
import { COLLECT_MILLIS, type FleetNode } from "../fleet/node.ts";
import type { Range } from "./ranges.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

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

/** Returns the times of an interval's grid in a stretch. */
export function gridTimes([from, until]: Range, intervalMillis: number): readonly number[] {
  const times: number[] = [];
  const first = Math.ceil(from / intervalMillis) * intervalMillis;
  for (let time = first; time < until; time += intervalMillis) times.push(time);
  return times;
}

/** Divides stretches at the hours: newest day first, and its hours oldest first. */
export function hourChunks(ranges: readonly Range[]): readonly Range[] {
  const chunks = ranges.flatMap(([from, until]) => {
    const hours: Range[] = [];
    for (let at = from; at < until;) {
      const end = Math.min(until, (Math.floor(at / HOUR_MILLIS) + 1) * HOUR_MILLIS);
      hours.push([at, end]);
      at = end;
    }
    return hours;
  });
  const dayOf = ([from]: Range): number => Math.floor(from / DAY_MILLIS);
  return chunks.toSorted((a, b) => dayOf(b) - dayOf(a) || a[0] - b[0]);
}
