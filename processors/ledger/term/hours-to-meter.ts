import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import type { WindowOfCluster } from "../hours/schedule.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/** Hours further back than raw rows are kept are not metered for the first time. */
const OLDEST_MILLIS = 40 * 24 * HOUR_MILLIS;

/**
 * Of each cluster since when it is watched or scraped, and until when anything is known to be there: machines, or samples
 * and the time after them for which a slot is still there.
 */
const LIVES = `
SELECT cluster, toFloat64(toUnixTimestamp64Milli(begun)) AS begun, toFloat64(toUnixTimestamp64Milli(over)) AS over,
  toFloat64(toUnixTimestamp(next)) * 1000 AS next, arrayMap(at -> toFloat64(toUnixTimestamp(at)) * 1000, open) AS open
FROM (
  SELECT cluster, min(from_at) AS begun, max(until_at) AS over FROM (
    SELECT cluster, min(at) AS from_at, min(at) AS until_at FROM inventory_facts GROUP BY cluster
    UNION ALL
    SELECT cluster, left_at, left_at FROM machines
    UNION ALL
    SELECT cluster, toDateTime64(window_start, 3, 'UTC'), addMilliseconds(toDateTime64(window_end, 3, 'UTC'), {absentAfter:Int64})
    FROM runs WHERE kind = 'rollup' AND rows > 0
  ) GROUP BY cluster
) AS known
LEFT JOIN (
  SELECT cluster, max(window_end) AS next, groupArrayIf(window_start, NOT isWhole) AS open
  FROM (
    SELECT cluster, window_start, window_end, ${ofLastRun("published_at")} AS published,
      -- What is from after now is by a clock that was ahead: the hour may not have been over.
      window_end <= published AND published <= fromUnixTimestamp64Milli({now:Int64}) AS isWhole
    FROM runs
    WHERE kind = 'usage' AND window_start <= fromUnixTimestamp64Milli({now:Int64})
      AND window_start >= fromUnixTimestamp64Milli({now:Int64} - ${OLDEST_MILLIS})
    GROUP BY cluster, window_start, window_end
  ) GROUP BY cluster
) AS metered USING (cluster)`;

/** A cluster's time in the books. Times are milliseconds since the epoch. */
export interface Life {
  readonly cluster: string;
  /** When it began to be watched or scraped, and until when anything is known to be there. */
  readonly begun: number;
  readonly over: number;
  /** The hour after the last that was metered; 0 where none was. */
  readonly next: number;
  /** Those before it that were metered, and not after their end. */
  readonly open: readonly number[];
}

/** The clusters of which anything is known at a time. Fails with a `StoreError`. */
export function readLives(store: StoreClient, now: number, absentAfterMillis: number): Promise<readonly Life[]> {
  return store.query<Life>(LIVES, { now, absentAfter: absentAfterMillis });
}

/** What there is to meter. */
export interface HoursToMeter {
  /**
   * The hours of each cluster that are to be metered because time has passed, whether or not anything was said of them: the one
   * that runs, those since the last one that was metered, and those that were metered while they ran alone.
   */
  readonly due: readonly WindowOfCluster[];
  /** The first hour of each cluster of which anything can be known: what facts say of the time before is not metered. */
  readonly begun: ReadonlyMap<string, number>;
}

/** What there is to meter at a time. */
export function hoursToMeter(lives: readonly Life[], now: number): HoursToMeter {
  const due = lives.flatMap(({ cluster, begun, over, next, open }) => {
    const windows = open.map((windowStart) => ({ cluster, windowStart }));
    const from = Math.max(next === 0 ? hourOf(begun) : next, hourOf(now - OLDEST_MILLIS));
    for (let windowStart = from; windowStart <= now; windowStart += HOUR_MILLIS) windows.push({ cluster, windowStart });
    return windows.filter(({ windowStart }) => windowStart < over);
  });
  return { due, begun: new Map(lives.map(({ cluster, begun }) => [cluster, hourOf(begun)])) };
}
