import { FLEET } from "../../../domain/charge/fleet.ts";
import { ofLastRun } from "./runs.ts";

/**
 * SQL for the life of each cluster in the books: `begun`, since when the cluster is watched or scraped, and `over`, until when anything is
 * known to exist: machines, or samples and the `{absentAfter:Int64}` milliseconds after them for which a slot still exists.
 */
export const CLUSTER_LIVES = `(
  SELECT toString(cluster) AS cluster, min(from_at) AS begun, max(until_at) AS over FROM (
    SELECT cluster, min(at) AS from_at, min(at) AS until_at FROM inventory_facts GROUP BY cluster
    UNION ALL
    SELECT cluster, left_at, left_at FROM machines
    UNION ALL
    SELECT cluster, toDateTime64(window_start, 3, 'UTC'), addMilliseconds(toDateTime64(window_end, 3, 'UTC'), {absentAfter:Int64})
    FROM runs WHERE kind = 'rollup' AND rows > 0
  ) GROUP BY cluster
)`;

/**
 * SQL for the hours of each cluster from `{from:Int64}` to `{until:Int64}` (milliseconds since the epoch). `is_metered`: the hour was metered
 * after its end. `is_charged`: it was also charged after its end, from the last usage. Costs of no cluster have no usage.
 */
export const MADE_HOURS = `(
  SELECT toString(cluster) AS cluster, window_start,
    ${ofLastRun("published_at", "kind = 'usage'")} AS metered_at,
    maxIf(published_at, kind IN ('charge', 'correction')) AS charged_at,
    cluster = '${FLEET}' OR metered_at >= window_end AS is_metered,
    is_metered AND charged_at >= window_end AND charged_at >= metered_at AS is_charged
  FROM runs
  WHERE kind IN ('usage', 'charge', 'correction')
    AND window_start >= fromUnixTimestamp64Milli({from:Int64}) AND window_start < fromUnixTimestamp64Milli({until:Int64})
  GROUP BY cluster, window_start, window_end
)`;

/** The columns of {@link CLUSTER_LIVES} as a `ClusterLife`. */
export const LIFE_COLUMNS =
  "cluster, toFloat64(toUnixTimestamp64Milli(begun)) AS begun, toFloat64(toUnixTimestamp64Milli(over)) AS over";

/** The columns of {@link MADE_HOURS} that are an hour of a cluster. */
export const HOUR_COLUMNS = "cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart";
