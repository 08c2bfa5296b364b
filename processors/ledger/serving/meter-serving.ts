import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { RUN_ID } from "../../../runtime/store/schema/runs.ts";
import { SERVING_HOUR_COLUMNS, type ServingHourRow } from "../../../runtime/store/schema/serving.ts";
import { createBlocks, listOf, namesOf } from "../../../runtime/store/schema/table.ts";
import { announceRun, publishRun, type Run, type RunContent } from "../hours/runs.ts";
import { HOURS_TOUCHED_SQL, LONGEST_REACH_MILLIS } from "../hours/window.ts";
import { hourRows } from "./hour-rows.ts";
import { readPages, readSeries } from "./increases.ts";
import { readServedPods } from "./served-pods.ts";

/** The identity of a scrape of an engine as SQL. A replay has the same value. */
export const SERVING_SCRAPE_KEY_SQL = "cityHash64(target, scraped_at, collector, epoch, sequence)";

/** Selects the number of scrapes that touch the window, and the time of the newest one. */
const INPUT = `
SELECT uniqExactIf(${SERVING_SCRAPE_KEY_SQL}, has(${HOURS_TOUCHED_SQL}, toUInt64(intDiv({start:Int64}, ${HOUR_MILLIS})))) AS scrapes,
  toFloat64(max(toUnixTimestamp64Milli(scraped_at))) AS newest
FROM serving_scrapes
WHERE cluster = {cluster:String}
  AND scraped_at >= fromUnixTimestamp64Milli({start:Int64} - ${LONGEST_REACH_MILLIS})
  AND scraped_at <= fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS + LONGEST_REACH_MILLIS})`;

const DIGEST = `
SELECT count() AS rows, sum(cityHash64(tuple(${listOf(SERVING_HOUR_COLUMNS)}))) AS hash
FROM serving_hours
WHERE cluster = {cluster:String} AND run_id = toUUID({run:String}) AND hour = fromUnixTimestamp64Milli({start:Int64})`;

/**
 * Meters the engines and gateways of one UTC hour of one cluster, and publishes the rows of `serving_hours` as one run. The running hour is
 * metered up to its newest scrape. The same scrapes and facts give the same rows and hash. Returns undefined, and publishes nothing, if no
 * page was scraped. Fails with a `StoreError`.
 */
export async function meterServing(store: StoreClient, run: Run, asOf: number): Promise<RunContent | undefined> {
  const { cluster, windowStart: start, runId } = run;
  // Counted before the samples are read. A scrape that arrives in between counts as a change, so none is missed.
  const [input] = await store.query<{ scrapes: string; newest: number }>(INPUT, { cluster, start });
  const scrapes = Number(input?.scrapes ?? 0);
  if (scrapes === 0) return undefined;
  await announceRun(store, run);
  const end = start + HOUR_MILLIS;
  const span = { from: start, until: asOf < end ? Math.min(end, Math.max(start, input!.newest)) : end };
  const [pages, series] = await Promise.all([readPages(store, cluster, span), readSeries(store, cluster, span)]);
  const pods = await readServedPods(store, cluster, pages, span);
  const rows = createBlocks<ServingHourRow>([RUN_ID, ...SERVING_HOUR_COLUMNS], { run_id: runId });
  for (const row of hourRows({ cluster, hour: start }, { pages, series, pods })) rows.write(row);
  if (rows.count > 0) await store.insertRows("serving_hours", namesOf(rows.columns), rows.take());
  const [digest] = await store.query<{ rows: string; hash: string }>(DIGEST, { cluster, start, run: runId });
  const content = { scrapes, rows: Number(digest?.rows ?? 0), hash: digest?.hash ?? "0" };
  await publishRun(store, "serving", run, content);
  return content;
}
