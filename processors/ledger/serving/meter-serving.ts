import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { RUN_ID } from "../../../runtime/store/schema/runs.ts";
import { SERVING_HOUR_COLUMNS, type ServingHourRow } from "../../../runtime/store/schema/serving.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";
import { digestOf } from "../runs/digest.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { AROUND_SPANS, bySpan, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";
import { announceRun, publishRun, type Run, type RunContent } from "../runs/runs.ts";
import { HOURS_TOUCHED_SQL, LONGEST_REACH_MILLIS } from "../runs/window.ts";
import { hourRows } from "./hour-rows.ts";
import { readPages, readSeries } from "./increases.ts";
import { readServedPods } from "./served-pods.ts";

/** The identity of a scrape of an engine as SQL. A replay has the same value. */
export const SERVING_SCRAPE_KEY_SQL = "cityHash64(target, scraped_at, collector, epoch, sequence)";

/** Selects for each window the number of scrapes that touch it, and the time of the newest one. */
const INPUT = `
SELECT span, uniqExactIf(${SERVING_SCRAPE_KEY_SQL}, has(${HOURS_TOUCHED_SQL}, toUInt64(intDiv({starts:Array(Int64)}[span], ${HOUR_MILLIS})))) AS scrapes,
  toFloat64(max(toUnixTimestamp64Milli(scraped_at))) AS newest
FROM serving_scrapes
${IN_SPANS}
WHERE cluster = {cluster:String} AND ${AROUND_SPANS}
GROUP BY span`;

const digest = digestOf("serving_hours", namesOf(SERVING_HOUR_COLUMNS), "hour");

/**
 * Meters the engines and gateways of one UTC hour of one cluster, and publishes the rows of `serving_hours` as one run. The running hour is
 * metered up to its newest scrape. The same scrapes and facts give the same rows and hash. Returns undefined, and publishes nothing, if no
 * page was scraped. Fails with a `StoreError`.
 */
export async function meterServing(store: StoreClient, run: Run, asOf: number): Promise<RunContent | undefined> {
  const { cluster, windowStart: start, runId } = run;
  // Counted before the samples are read. A scrape that arrives in between counts as a change, so none is missed.
  const { scrapes, newest } = await together(store, readInputs, run);
  if (scrapes === 0) return undefined;
  await announceRun(store, run);
  const end = start + HOUR_MILLIS;
  const span = { from: start, until: asOf < end ? Math.min(end, Math.max(start, newest)) : end };
  const asked = { cluster, span };
  const [pages, series] = await Promise.all([together(store, readPages, asked), together(store, readSeries, asked)]);
  const pods = await together(store, readServedPods, { ...asked, pages });
  const rows = createBlocks<ServingHourRow>([RUN_ID, ...SERVING_HOUR_COLUMNS], { run_id: runId });
  for (const row of hourRows({ cluster, hour: start }, { pages, series, pods })) rows.write(row);
  if (rows.count > 0) await store.insertRows("serving_hours", namesOf(rows.columns), rows.take());
  const content = { scrapes, ...(await digest(store, run)) };
  await publishRun(store, "serving", run, content);
  return content;
}

async function readInputs(
  store: StoreClient,
  windows: readonly WindowOfCluster[],
): Promise<readonly { readonly scrapes: number; readonly newest: number }[]> {
  const starts = windows.map(({ windowStart }) => windowStart);
  const around = starts.map((start) => ({
    from: start - LONGEST_REACH_MILLIS,
    until: start + HOUR_MILLIS + LONGEST_REACH_MILLIS + 1,
  }));
  const parameters = { cluster: windows[0]!.cluster, starts, ...spanParameters(around) };
  const rows = await store.query<{ span: number; scrapes: string; newest: number }>(INPUT, parameters);
  return bySpan(rows, windows).map(([input]) => ({ scrapes: Number(input?.scrapes ?? 0), newest: input?.newest ?? 0 }));
}
