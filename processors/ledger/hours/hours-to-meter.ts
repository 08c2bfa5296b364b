import type { StoreClient } from "../../../runtime/store/client.ts";
import type { ClusterLife } from "../../../domain/charge/settling.ts";
import { CLUSTER_LIVES, LIFE_COLUMNS } from "../../../runtime/store/schema/hours.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

const LIVES = `
SELECT ${LIFE_COLUMNS},
  toFloat64(toUnixTimestamp(next)) * 1000 AS next, arrayMap(at -> toFloat64(toUnixTimestamp(at)) * 1000, open) AS open
FROM ${CLUSTER_LIVES} AS known
LEFT JOIN (
  SELECT toString(cluster) AS cluster, maxIf(window_end, isMetered) AS next, groupArrayIf(window_start, NOT isWhole) AS open
  FROM (
    SELECT cluster, window_start, window_end, countIf(kind = 'usage') > 0 AS isMetered,
      ${ofLastRun("published_at", "kind = 'usage'")} AS published,
      -- What is from after now is by a clock that was ahead: the hour may not have been over.
      isMetered AND window_end <= published AND published <= fromUnixTimestamp64Milli({now:Int64}) AS isWhole
    FROM runs
    -- A leader that ended between the rollups of an hour and its usage has left the rollups alone.
    WHERE (kind = 'usage' OR (kind = 'rollup' AND rows > 0)) AND window_start <= fromUnixTimestamp64Milli({now:Int64})
      AND window_start >= fromUnixTimestamp64Milli({since:Int64})
    GROUP BY cluster, window_start, window_end
  ) GROUP BY cluster
) AS metered USING (cluster)`;

/** The life of a cluster, and how far it was metered. Times are milliseconds since the epoch. */
export interface Life extends ClusterLife {
  /** The hour after the last metered hour; 0 if none was metered. */
  readonly next: number;
  /** Earlier hours that were metered, but not after their end, or that have rollups alone. */
  readonly open: readonly number[];
}

/** Reads the clusters with any data at a time, with their open hours since `since`. Fails with a `StoreError`. */
export function readLives(
  store: StoreClient,
  { since, now }: { readonly since: number; readonly now: number },
  absentAfterMillis: number,
): Promise<readonly Life[]> {
  return store.query<Life>(LIVES, { since, now, absentAfter: absentAfterMillis });
}

/** The hours to meter. */
export interface HoursToMeter {
  /**
   * The hours of each cluster to meter because time has passed, with or without new data: the running hour, the hours since the last
   * metered one, the hours that were metered only while they ran, and those that a leader has left with rollups alone.
   */
  readonly due: readonly WindowOfCluster[];
  /** The first hour of each cluster. Facts about the time before are not metered. */
  readonly begun: ReadonlyMap<string, number>;
}

/** Returns the hours to meter at a time. Hours before `since` are not metered, because their raw rows may have expired. */
export function hoursToMeter(lives: readonly Life[], now: number, since: number): HoursToMeter {
  const due = lives.flatMap(({ cluster, begun, over, next, open }) => {
    const windows = open.map((windowStart) => ({ cluster, windowStart }));
    const from = Math.max(next === 0 ? hourOf(begun) : next, hourOf(since));
    for (let windowStart = from; windowStart <= now; windowStart += HOUR_MILLIS) windows.push({ cluster, windowStart });
    return windows.filter(({ windowStart }) => windowStart < over);
  });
  return { due, begun: new Map(lives.map(({ cluster, begun }) => [cluster, hourOf(begun)])) };
}
