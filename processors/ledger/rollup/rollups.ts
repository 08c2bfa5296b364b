import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { ROLLUP_COLUMNS } from "../../../runtime/store/schema/rollups.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { insertFiveMinutes } from "./five-minutes.ts";
import { insertHours } from "./hours.ts";
import { digestOf } from "../runs/digest.ts";
import { AROUND_SPANS, bySpan, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";
import { HOURS_TOUCHED_SQL, LONGEST_REACH_MILLIS, REACH_SQL } from "../runs/window.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { announceRun, publishRun, type Run, type RunContent } from "../runs/runs.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The identity of a scrape as SQL. A replay has the same value. */
export const SCRAPE_KEY_SQL = "cityHash64(node, target, scraped_at, collector, epoch, sequence)";

/** The 5-minute rows of a run and their hash. The hourly rows follow from them. */
const digest = digestOf("gpu_5m", ROLLUP_COLUMNS, "bucket");

/** Selects for each window the number of scrapes that touch it, the number of their samples, and the longest time that samples around it cover. */
const INPUT = `
SELECT span,
  uniqExactIf(${SCRAPE_KEY_SQL}, has(${HOURS_TOUCHED_SQL}, toUInt64(intDiv({starts:Array(Int64)}[span], ${HOUR_MILLIS})))) AS scrapes,
  sum(devices) AS samples,
  max(${REACH_SQL}) AS reach
FROM scrapes
${IN_SPANS}
WHERE cluster = {cluster:String} AND ${AROUND_SPANS}
GROUP BY span`;

/**
 * Computes one UTC hour of one cluster from the raw rows and publishes it: first the rows, which are not visible, then one insert into
 * `runs`. The same raw rows give the same rows and hash. A crash or a failure leaves rows without a published run, which are dropped later.
 * The next attempt takes a new run id. Fails with a `StoreError`.
 */
export async function computeWindow(store: StoreClient, run: Run, signal?: AbortSignal): Promise<RunContent> {
  const { cluster, windowStart, runId } = run;
  // Counted before the samples are read. A scrape that arrives in between counts as a change, so none is missed.
  const { scrapes, samples, reachMillis } = await together(store, readInputs, run);
  await announceRun(store, run);
  await together(store, insertFiveMinutes, { cluster, windowStart, runId, reachMillis, samples });
  signal?.throwIfAborted();
  await together(store, insertHours, run);
  const content = { scrapes, ...(await digest(store, run)) };
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
  const { counted, isOver } = await together(store, readMade, window);
  return !isOver || (await together(store, readInputs, window)).scrapes >= counted;
}

/** Selects the number of scrapes in the rollups of each window, and whether the window was metered after its end. */
const MADE = `
SELECT toFloat64(toUnixTimestamp(window_start)) * 1000 AS start, toFloat64(${ofLastRun("scrapes", "kind = 'rollup'")}) AS counted,
  toBool(${ofLastRun("published_at >= window_end", "kind = 'usage'")}) AS isOver
FROM runs
WHERE cluster = {cluster:String} AND toUnixTimestamp(window_start) IN {starts:Array(Int64)} AND kind IN ('rollup', 'usage')
GROUP BY window_start`;

interface Made {
  readonly counted: number;
  readonly isOver: boolean;
}

async function readMade(store: StoreClient, windows: readonly WindowOfCluster[]): Promise<readonly Made[]> {
  const rows = await store.query<Made & { readonly start: number }>(MADE, {
    cluster: windows[0]!.cluster,
    starts: windows.map(({ windowStart }) => windowStart / 1000),
  });
  const made = new Map(rows.map(({ start, ...row }) => [start, row]));
  return windows.map(({ windowStart }) => made.get(windowStart) ?? { counted: 0, isOver: false });
}

/** The raw rows of a window. */
interface Input {
  readonly scrapes: number;
  readonly samples: number;
  readonly reachMillis: number;
}

async function readInputs(store: StoreClient, windows: readonly WindowOfCluster[]): Promise<readonly Input[]> {
  const starts = windows.map(({ windowStart }) => windowStart);
  const around = starts.map((start) => ({
    from: start - LONGEST_REACH_MILLIS,
    until: start + HOUR_MILLIS + LONGEST_REACH_MILLIS + 1,
  }));
  const rows = await store.query<{ span: number; scrapes: string; samples: string; reach: string }>(INPUT, {
    cluster: windows[0]!.cluster,
    starts,
    ...spanParameters(around),
  });
  return bySpan(rows, windows).map(([input]) => ({
    scrapes: Number(input?.scrapes ?? 0),
    samples: Number(input?.samples ?? 0),
    reachMillis: Number(input?.reach ?? 0),
  }));
}
