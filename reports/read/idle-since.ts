import { UNUSED_BELOW } from "../../domain/fleet/use.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

/** The time over which the last use of a device is looked for. */
const MOST_MILLIS = 7 * DAY_MILLIS;
/** The rollups of the last hours are not published yet. */
const ROLLED_UP_MILLIS = 2 * HOUR_MILLIS;

const LEAST_PPM = UNUSED_BELOW * 1e6;

/** SQL for the last use of each device: from samples of the last hours, five minutes of the last day, and hours of the last week. */
const LAST_USE = `
SELECT cluster, node, gpu_key AS device, instance, max(used) AS at
FROM (
  SELECT cluster, node, gpu_key, instance, toFloat64(toUnixTimestamp64Milli(max(scraped_at))) AS used FROM gpu_samples
  WHERE scraped_at >= ${momentSql("recent")} AND scraped_at < ${momentSql("until")} AND activity_ppm >= ${LEAST_PPM}
  GROUP BY cluster, node, gpu_key, instance
  UNION ALL
  SELECT cluster, node, gpu_key, instance, toFloat64(toUnixTimestamp64Milli(max(last_at))) AS used FROM gpu_5m_published
  WHERE bucket >= ${momentSql("yesterday")} AND bucket < ${momentSql("until")} AND activity_max_ppm >= ${LEAST_PPM} AND scope = 'device'
  GROUP BY cluster, node, gpu_key, instance
  UNION ALL
  SELECT cluster, node, gpu_key, instance, toFloat64(toUnixTimestamp64Milli(max(last_at))) AS used FROM gpu_hours_published
  WHERE bucket >= ${momentSql("from")} AND bucket < ${momentSql("yesterday")} AND activity_max_ppm >= ${LEAST_PPM} AND scope = 'device'
  GROUP BY cluster, node, gpu_key, instance)
GROUP BY cluster, node, device, instance`;

/** A device of which the last use is known. */
export interface LastUse {
  readonly cluster: string;
  readonly node: string;
  readonly device: string;
  readonly instance: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Reads when each device was last used within 7 days before a time. An older use is not found. Fails with a `StoreError`. */
export async function readLastUses(store: Pick<StoreClient, "query">, atMillis: number): Promise<readonly LastUse[]> {
  return store.query<LastUse>(LAST_USE, {
    from: atMillis - MOST_MILLIS,
    yesterday: atMillis - DAY_MILLIS,
    recent: atMillis - ROLLED_UP_MILLIS,
    until: atMillis,
  });
}
