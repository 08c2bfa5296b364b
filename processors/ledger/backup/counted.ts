import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";

/** The valid runs and closings of the books at a moment. */
export interface Counted {
  /** The runs that readers see, and those that closings froze, by the start of their hour. */
  readonly runs: ReadonlyMap<number, readonly string[]>;
  /** All closings, dry runs and duplicate ones included. */
  readonly closings: readonly string[];
  /** The closings that closed a period. Their lines belong to a run with the same id. */
  readonly closed: readonly string[];
}

const PUBLISHED = `
SELECT toFloat64(toUnixTimestamp(window_start)) * 1000 AS hour, groupUniqArray(toString(run)) AS runs FROM (
  SELECT window_start, ${ofLastRun("run_id")} AS run FROM runs
  WHERE kind NOT IN ('election', 'started')
  GROUP BY kind, cluster, window_start, billing_period
)
GROUP BY window_start`;

const CLOSINGS = `
SELECT DISTINCT toString(close_id) AS id, toBool(close_id IN (SELECT close_id FROM closed_periods)) AS isClosed FROM closings`;

const FROZEN = `
SELECT toFloat64(toUnixTimestamp(window_start)) * 1000 AS hour, groupUniqArray(toString(run_id)) AS runs FROM closed_runs
WHERE close_id IN {closed:Array(UUID)}
GROUP BY window_start`;

interface HourOfRuns {
  readonly hour: number;
  readonly runs: readonly string[];
}

/**
 * Reads the valid runs and closings. Runs are read before closings, so every correction among them has its closing. Runs that a closing
 * froze in between stay forever. The rows of a superseded run stay for at least one hour. Fails with a `StoreError`.
 */
export async function readCounted(store: StoreClient): Promise<Counted> {
  const published = await store.query<HourOfRuns>(PUBLISHED);
  const closings = await store.query<{ readonly id: string; readonly isClosed: boolean }>(CLOSINGS);
  const closed = closings.filter(({ isClosed }) => isClosed).map(({ id }) => id);
  const frozen = await store.query<HourOfRuns>(FROZEN, { closed });
  const runs = new Map<number, readonly string[]>();
  for (const { hour, runs: more } of [...published, ...frozen])
    runs.set(hour, [...new Set([...(runs.get(hour) ?? []), ...more])]);
  return { runs, closings: closings.map(({ id }) => id), closed };
}
