import type { StoreClient } from "../runtime/store/client.ts";
import { HOUR_MILLIS, hourOf } from "./rollup/window.ts";
import type { WindowOfCluster } from "./rollup/schedule.ts";

/** Hours further back than raw rows are kept are not metered for the first time. */
const OLDEST_MILLIS = 40 * 24 * HOUR_MILLIS;

/**
 * Of each cluster since when it is watched or scraped, and until when anything is known to be there: machines, or samples and the
 * day after them.
 */
const LIVES = `
SELECT cluster, toFloat64(toUnixTimestamp64Milli(begun)) AS begun, toFloat64(toUnixTimestamp64Milli(over)) AS over,
  toFloat64(toUnixTimestamp(latest)) * 1000 AS latest, toFloat64(toUnixTimestamp64Milli(published)) AS published
FROM (
  SELECT cluster, min(from_at) AS begun, max(until_at) AS over FROM (
    SELECT cluster, min(at) AS from_at, min(at) AS until_at FROM inventory_facts GROUP BY cluster
    UNION ALL
    SELECT cluster, left_at, left_at FROM machines
    UNION ALL
    SELECT cluster, toDateTime64(window_start, 3, 'UTC'), toDateTime64(window_end + 86400, 3, 'UTC')
    FROM runs WHERE kind = 'rollup' AND rows > 0
  ) GROUP BY cluster
) AS known
LEFT JOIN (
  SELECT cluster, max(window_start) AS latest, argMax(published_at, (window_start, published_at)) AS published
  FROM runs WHERE kind = 'usage' GROUP BY cluster
) AS metered USING (cluster)`;

/** A cluster's time in the books. Times are milliseconds since the epoch. */
export interface Life {
  readonly cluster: string;
  /** When it began to be watched or scraped, and until when anything is known to be there. */
  readonly begun: number;
  readonly over: number;
  /** The last hour that was metered, and when that was published; 0 where none was. */
  readonly latest: number;
  readonly published: number;
}

/** The clusters of which anything is known. Fails with a `StoreError`. */
export function readLives(store: StoreClient): Promise<readonly Life[]> {
  return store.query<Life>(LIVES);
}

/** What there is to meter. */
export interface HoursToMeter {
  /**
   * The hours of each cluster that are to be metered because time has passed, whether or not anything was said of them: the one
   * that runs, and those before it back to the last one that was metered after its end.
   */
  readonly due: readonly WindowOfCluster[];
  /** The first hour of each cluster of which anything can be known: what facts say of the time before is not metered. */
  readonly begun: ReadonlyMap<string, number>;
}

/** Looks up what there is to meter at a time. Fails with a `StoreError`. */
export async function hoursToMeter(store: StoreClient, now: number): Promise<HoursToMeter> {
  const lives = await readLives(store);
  const due = lives.flatMap(({ cluster, begun, over, latest, published }) => {
    const isWhole = published >= latest + HOUR_MILLIS;
    const next = isWhole ? latest + HOUR_MILLIS : latest;
    const from = Math.max(latest === 0 ? hourOf(begun) : next, hourOf(now - OLDEST_MILLIS));
    const windows: WindowOfCluster[] = [];
    for (let windowStart = from; windowStart <= Math.min(now, over - 1); windowStart += HOUR_MILLIS)
      windows.push({ cluster, windowStart });
    return windows;
  });
  return { due, begun: new Map(lives.map(({ cluster, begun }) => [cluster, hourOf(begun)])) };
}
