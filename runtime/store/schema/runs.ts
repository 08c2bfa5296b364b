import type { Column } from "./table.ts";
import { uuid } from "./types.ts";

/** The run that made a row. The value is the same in all rows of an insert. */
export const RUN_ID: Column = { name: "run_id", type: uuid, path: "run" };

/**
 * The order of the runs of one kind over one window. The last run counts: the one with the highest leadership term, and within the term the
 * one that was published last. Runs that were published at the same moment are ordered by id.
 */
export const RUN_ORDER = "(generation, published_at, toString(run_id))";

/** Returns an aggregate over runs: the value of the run that counts, among the runs that fulfill `where`. */
export function ofLastRun(expression: string, where?: string): string {
  return where === undefined
    ? `argMax(${expression}, ${RUN_ORDER})`
    : `argMaxIf(${expression}, ${RUN_ORDER}, ${where})`;
}

/**
 * FROM and WHERE for the breaches that stand, of the hours from `{from:Int64}` to `{until:Int64}` (seconds since the epoch): no run of their hour and
 * kind was published after them.
 */
export const STANDING_BREACHES = `
FROM (SELECT *, what = 'usage' AS is_usage FROM breaches FINAL) AS breaches
LEFT JOIN (
  SELECT cluster, window_start, kind = 'usage' AS is_usage, max(published_at) AS made_at FROM runs
  WHERE kind IN ('usage', 'charge', 'correction') GROUP BY cluster, window_start, is_usage
) AS made USING (cluster, window_start, is_usage)
WHERE window_start >= fromUnixTimestamp({from:Int64}) AND window_start < fromUnixTimestamp({until:Int64})
  AND found_at >= made_at`;
