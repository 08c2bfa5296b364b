import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { insertFiveMinutes } from "./five-minutes.ts";
import { digestOfRun, insertHours } from "./hours.ts";
import { HOURS_TOUCHED_SQL, LONGEST_REACH_MILLIS, REACH_SQL } from "../hours/window.ts";
import type { WindowOfCluster } from "../hours/schedule.ts";
import { announceRun, publishRun, type Run, type RunContent } from "../hours/runs.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The identity of a scrape as SQL. A replay has the same value. */
export const SCRAPE_KEY_SQL = "cityHash64(node, target, scraped_at, collector, epoch, sequence)";

/** The number of samples that are computed at once: about half a kilobyte each in the store's memory. */
const SAMPLES_PER_SLICE = 1_000_000;

/** Selects the number of scrapes that touch the window, the number of their samples, and the longest time that samples around it cover. */
const INPUT = `
SELECT
  uniqExactIf(${SCRAPE_KEY_SQL}, has(${HOURS_TOUCHED_SQL}, toUInt64(intDiv({start:Int64}, ${HOUR_MILLIS})))) AS scrapes,
  sum(devices) AS samples,
  max(${REACH_SQL}) AS reach
FROM scrapes
WHERE cluster = {cluster:String}
  AND scraped_at >= fromUnixTimestamp64Milli({start:Int64} - ${LONGEST_REACH_MILLIS})
  AND scraped_at <= fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS + LONGEST_REACH_MILLIS})`;

/**
 * Computes one UTC hour of one cluster from the raw rows and publishes it: first the rows, which are not visible, then one insert into
 * `runs`. The same raw rows give the same rows and hash. A crash or a failure leaves rows without a published run, which are dropped later.
 * The next attempt takes a new run id. Fails with a `StoreError`.
 */
export async function computeWindow(store: StoreClient, run: Run, signal?: AbortSignal): Promise<RunContent> {
  const { cluster, windowStart } = run;
  // Counted before the samples are read. A scrape that arrives in between counts as a change, so none is missed.
  const { scrapes, samples, reachMillis } = await readInput(store, { cluster, windowStart });
  await announceRun(store, run);
  const slices = Math.max(1, Math.ceil(samples / SAMPLES_PER_SLICE));
  await insertFiveMinutes(store, { ...run, reachMillis, slices });
  signal?.throwIfAborted();
  await insertHours(store, run);
  const content = { scrapes, ...(await digestOfRun(store, run)) };
  signal?.throwIfAborted();
  await publishRun(store, "rollup", run, content);
  return content;
}

/**
 * Returns whether an hour still has all raw rows that its rollups were made from. If an hour was metered after its end and has fewer raw
 * rows now, some were lost, for example by a restore of a backup. Its rollups must then never be recomputed from the rest. Fails with a
 * `StoreError`.
 */
export async function hasRawRows(store: StoreClient, window: WindowOfCluster): Promise<boolean> {
  const [made] = await store.query<{ counted: string; isOver: boolean }>(MADE, {
    cluster: window.cluster,
    start: window.windowStart,
  });
  if (made?.isOver !== true) return true;
  return (await readInput(store, window)).scrapes >= Number(made.counted);
}

/** Selects the number of scrapes in the rollups of a window, and whether the window was metered after its end. */
const MADE = `
SELECT ${ofLastRun("scrapes", "kind = 'rollup'")} AS counted,
  toBool(${ofLastRun("published_at >= window_end", "kind = 'usage'")}) AS isOver
FROM runs
WHERE cluster = {cluster:String} AND window_start = fromUnixTimestamp64Milli({start:Int64}) AND kind IN ('rollup', 'usage')`;

async function readInput(
  store: StoreClient,
  { cluster, windowStart: start }: WindowOfCluster,
): Promise<{ readonly scrapes: number; readonly samples: number; readonly reachMillis: number }> {
  const [input] = await store.query<{ scrapes: string; samples: string; reach: string }>(INPUT, { cluster, start });
  return {
    scrapes: Number(input?.scrapes ?? 0),
    samples: Number(input?.samples ?? 0),
    reachMillis: Number(input?.reach ?? 0),
  };
}
