import { MOST_COUNT, type Increases } from "../../../domain/serving/work.ts";
import type { ServingKind } from "../../../domain/serving/series.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { SERVING_COUNTERS } from "../../../runtime/store/schema/serving.ts";
import { LONGEST_REACH_MILLIS, REACH_SQL } from "../runs/window.ts";
import { bySpan, spanParameters } from "../runs/spans-sql.ts";
import type { Span } from "../plan/node-record.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** A page that was read, or was to be read, within an hour. Times are milliseconds. */
export interface MeteredPage {
  readonly target: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly exporter: string;
  readonly scrapes: number;
  readonly failures: number;
  /** The time between successful scrapes that are close enough. */
  readonly coveredMillis: number;
  /** Covered time without a request. */
  readonly idleMillis: number;
  /** Requests that ran, times milliseconds. */
  readonly runningMillis: number;
  readonly waitingMillis: number;
  /** The last successful scrape, milliseconds since the epoch. */
  readonly lastAt: number;
}

/** The increases of the counters of a model or tenant of a page within an hour. */
export interface MeteredSeries {
  readonly target: string;
  readonly podUid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly kind: ServingKind;
  readonly exporter: string;
  readonly model: string;
  readonly adapter: string;
  readonly tenant: string;
  /** Counters that began again, and impossible increases. Each has lost its work between two scrapes. */
  readonly resets: number;
  readonly increases: Increases;
}

const MILLIS = "toUnixTimestamp64Milli(scraped_at)";
const AROUND = `cluster = {cluster:String}
  AND scraped_at >= fromUnixTimestamp64Milli({from:Int64} - ${LONGEST_REACH_MILLIS})
  AND scraped_at < fromUnixTimestamp64Milli({until:Int64} + ${LONGEST_REACH_MILLIS})`;
/** The start and the end of a row's span. */
const [BEGIN, END] = ["{begins:Array(Int64)}[span]", "{ends:Array(Int64)}[span]"];

/** The identity of a page: its address and its pod. An address can belong to several pods, one after the other. */
const PAGE = "target, namespace, pod, pod_uid";

/** The successful scrapes, each with the time of the one before, and whether the same process of a collector made both; 0 if there is none. */
const READ = `
  SELECT ${PAGE}, ${MILLIS} AS at, ${REACH_SQL} AS reach, lagInFrame(${MILLIS}, 1, 0) OVER line AS before,
    lagInFrame((collector, epoch)) OVER line = (collector, epoch) AS same
  FROM serving_scrapes FINAL
  WHERE ${AROUND} AND failure = ''
  WINDOW line AS (PARTITION BY ${PAGE} ORDER BY scraped_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;

/** The counters whose increase shows that an engine worked. */
const WORKED = [
  "prompt_tokens",
  "computed_prompt_tokens",
  "generation_tokens",
  "requests",
  "requests_stop",
  "requests_length",
  "inferences",
];

/** The most requests that an engine can have at once. A page with more has a wrong value. */
const MOST_REQUESTS = 1_000_000;

/** Returns the number of requests of a page as SQL, at most {@link MOST_REQUESTS}. NULL stays NULL. */
const requestsOf = (gauge: string): string =>
  `if(sum(${gauge}) > ${MOST_REQUESTS}, toUInt64(${MOST_REQUESTS}), sum(${gauge}))`;

/** The state of each page at each scrape: the requests in it, and the sum of the counters that show work. */
const STATES = `
  SELECT ${PAGE}, ${MILLIS} AS at, ${requestsOf("running")} AS running, ${requestsOf("waiting")} AS waiting, toInt64(sum(idle_us)) AS idle_us,
    sum(${WORKED.map((name) => `ifNull(${name}, 0)`).join(" + ")}) AS worked,
    count(${WORKED.join(") + count(")}) > 0 AS counts
  FROM serving_samples FINAL
  WHERE ${AROUND} AND kind = 'engine'
  GROUP BY ${PAGE}, scraped_at`;

/**
 * Selects the covered and the idle time of each page in each span. Time between two scrapes is covered if they are at most 2.5 intervals
 * apart. It is idle as far as the engine has measured that itself. Otherwise it is idle if no counter of work has moved, and no request was
 * in the engine at either end; an engine without any such value is never idle.
 */
const PAGES = `
WITH between AS (
  SELECT ${PAGE}, read.at AS at, read.before AS before, reach,
    states.running AS running, states.waiting AS waiting, states.counts AS counts, states.worked AS worked, states.idle_us AS idle_us,
    lagInFrame(states.running) OVER line AS was_running, lagInFrame(states.waiting) OVER line AS was_waiting,
    lagInFrame(states.worked) OVER line AS had_worked, lagInFrame(states.idle_us) OVER line AS had_idle_us
  FROM (${READ}) AS read
  LEFT JOIN (${STATES}) AS states USING (${PAGE}, at)
  WINDOW line AS (PARTITION BY ${PAGE} ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
measured AS (
  SELECT span, ${PAGE}, least(at, ${END}) - greatest(before, ${BEGIN}) AS covered, was_running, was_waiting,
    multiIf(
      idle_us IS NOT NULL AND had_idle_us IS NOT NULL,
        intDiv(covered * least(toInt64(at - before), intDiv(if(idle_us >= had_idle_us, idle_us - had_idle_us, idle_us), 1000)), at - before),
      running IS NULL AND NOT counts, 0,
      ifNull(running, 0) + ifNull(waiting, 0) + ifNull(was_running, 0) + ifNull(was_waiting, 0) = 0 AND worked = had_worked, covered,
      0) AS idle
  FROM between
  ARRAY JOIN arrayFilter(
    (each, begin, end) -> at > begin AND before < end, arrayEnumerate({begins:Array(Int64)}), {begins:Array(Int64)}, {ends:Array(Int64)}
  ) AS span
  WHERE before > 0 AND at - before <= reach
)
SELECT span, target, namespace, pod, pod_uid AS podUid, exporter, scrapes, failures, last_at AS lastAt,
  coveredMillis, idleMillis, runningMillis, waitingMillis
FROM (
  SELECT span, ${PAGE}, argMaxIf(exporter, scraped_at, failure = '') AS exporter, toFloat64(maxIf(${MILLIS}, failure = '')) AS last_at,
    toUInt32(countIf(${MILLIS} >= ${BEGIN} AND ${MILLIS} < ${END})) AS scrapes,
    toUInt32(countIf(failure != '' AND ${MILLIS} >= ${BEGIN} AND ${MILLIS} < ${END})) AS failures
  FROM serving_scrapes FINAL
  ARRAY JOIN arrayFilter(
    (each, begin, end) -> ${MILLIS} >= begin - ${LONGEST_REACH_MILLIS} AND ${MILLIS} < end + ${LONGEST_REACH_MILLIS},
    arrayEnumerate({begins:Array(Int64)}), {begins:Array(Int64)}, {ends:Array(Int64)}
  ) AS span
  WHERE ${AROUND} GROUP BY span, ${PAGE}
) AS attempts
LEFT JOIN (
  SELECT span, ${PAGE}, toFloat64(sum(covered)) AS coveredMillis, toFloat64(sum(idle)) AS idleMillis,
    toFloat64(sum(covered * ifNull(was_running, 0))) AS runningMillis, toFloat64(sum(covered * ifNull(was_waiting, 0))) AS waitingMillis
  FROM measured GROUP BY span, ${PAGE}
) AS sums USING (span, ${PAGE})
WHERE scrapes > 0 OR coveredMillis > 0
ORDER BY ${PAGE}`;

/** A span of the engines and gateways of a cluster. */
interface AskedServing {
  readonly cluster: string;
  readonly span: Span;
}

function parametersOf(all: readonly AskedServing[]) {
  const spans = all.map(({ span }) => span);
  const [from, until] = [Math.min(...spans.map((span) => span.from)), Math.max(...spans.map((span) => span.until))];
  return { cluster: all[0]!.cluster, from, until, ...spanParameters(spans) };
}

/** Reads the pages of engines and gateways within spans, which do not overlap, sorted by target and pod. Fails with a `StoreError`. */
export async function readPages(
  store: StoreClient,
  all: readonly AskedServing[],
): Promise<readonly (readonly MeteredPage[])[]> {
  return bySpan<MeteredPage>(await store.query(PAGES, parametersOf(all)), all);
}

/** The tolerance for the clocks of a pod and of a collector, in milliseconds. */
const CLOCKS_MILLIS = 60_000;

/**
 * The largest increase of a counter in a millisecond: 10 billion tokens a second, or the time of 10,000 requests at once. A larger one is
 * impossible, so it counts as nothing: a wrong page must not take the cost of others.
 */
const MOST_PER_MILLI = 10_000_000;

const GROUP = `${PAGE}, kind, exporter, model, adapter, tenant`;
const LINE = `${GROUP}, part`;

/** The time from which on a span's scrapes are considered. An earlier scrape is too far away to belong to a scrape of the span. */
const KNOWN_SINCE = `${BEGIN} - ${LONGEST_REACH_MILLIS}`;

/** Returns the nth counter of a row, of the row before, and whether it has begun again, as SQL. */
const counterOf = (index: number): string => `tupleElement(counters, ${index + 1})`;
const formerOf = (index: number): string => `if(former_at > 0, ifNull(tupleElement(former, ${index + 1}), 0), 0)`;
const isResetOf = (index: number): string =>
  `(began OR (NOT continues AND ifNull(${counterOf(index)} < ${formerOf(index)}, 0)))`;
const stepOf = (index: number): string =>
  `(${counterOf(index)} - if(${isResetOf(index)}, 0, least(${formerOf(index)}, ${counterOf(index)})))`;
const isTooLargeOf = (index: number): string => `ifNull(${stepOf(index)} > elapsed * ${MOST_PER_MILLI}, 0)`;

/**
 * Selects the increases of the counters of each series. An increase belongs to the hour of the later scrape, so that increases of hours sum
 * to the whole. A counter that falls, or whose start is later than the row before, has begun again, and its value is its increase. If the start
 * is the same, the row is a sum of which one series has left the page, and the increase is 0. The first row of a series counts from 0 if its
 * counters began after the scrape before, or, of a page that was never read, in the hour or at most 2.5 intervals before the hour. Counters
 * without a start count from 0 if the same process of a collector has read the page before; another process may name parts otherwise. In all other cases
 * the first row has no increase. Increases above {@link MOST_PER_MILLI} are left out; the sum of an hour is at most {@link MOST_COUNT}.
 */
const SERIES = `
WITH lines AS (
  SELECT ${LINE}, ${MILLIS} AS at, ${REACH_SQL} AS reach, created_ms, tuple(${SERVING_COUNTERS.join(", ")}) AS counters,
    lagInFrame(${MILLIS}, 1, 0) OVER line AS former_at, lagInFrame(created_ms) OVER line AS former_created,
    lagInFrame(tuple(${SERVING_COUNTERS.join(", ")})) OVER line AS former
  FROM serving_samples FINAL
  WHERE ${AROUND}
  WINDOW line AS (PARTITION BY ${LINE} ORDER BY scraped_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
counted AS (
  SELECT span, ${GROUP}, counters, former, if(lines.former_at >= ${KNOWN_SINCE}, lines.former_at, 0) AS former_at,
    if(former_at > 0, at - former_at, ${HOUR_MILLIS}) AS elapsed,
    former_at > 0 AND ifNull(created_ms > former_created AND created_ms > former_at - ${CLOCKS_MILLIS}, 0) AS began,
    former_at > 0 AND ifNull(created_ms = former_created, 0) AS continues,
    if(read.before >= ${KNOWN_SINCE}, read.before, 0) AS page_at
  FROM lines
  LEFT JOIN (${READ}) AS read USING (${PAGE}, at)
  ARRAY JOIN arrayFilter(
    (each, begin, end) -> at >= begin AND at < end, arrayEnumerate({begins:Array(Int64)}), {begins:Array(Int64)}, {ends:Array(Int64)}
  ) AS span
  WHERE former_at > 0
    OR if(created_ms IS NULL, page_at > 0 AND read.same, created_ms >= if(page_at > 0, page_at - ${CLOCKS_MILLIS}, ${BEGIN} - lines.reach))
)
SELECT span, target, namespace, pod, pod_uid AS podUid, kind, exporter, model, adapter, tenant,
  toFloat64(countIf(${SERVING_COUNTERS.map((_, index) => `${isResetOf(index)} OR ${isTooLargeOf(index)}`).join(" OR ")})) AS resets,
  ${SERVING_COUNTERS.map((name, index) => {
    const sum = `sum(toInt128(if(${isTooLargeOf(index)}, 0, ${stepOf(index)})))`;
    return `toFloat64(if(${sum} > ${MOST_COUNT}, ${MOST_COUNT}, ${sum})) AS ${name}`;
  }).join(",\n  ")}
FROM counted
GROUP BY span, ${GROUP}
ORDER BY ${GROUP}`;

/**
 * Reads the increases of all series of engines and gateways within spans, which do not overlap, sorted by target and pod. Fails with a
 * `StoreError`.
 */
export async function readSeries(
  store: StoreClient,
  all: readonly AskedServing[],
): Promise<readonly (readonly MeteredSeries[])[]> {
  type Row = Record<string, string | number | null>;
  const rows = await store.query<Row & { readonly span: number }>(SERIES, parametersOf(all));
  return bySpan<Row>(rows, all).map((ofSpan) =>
    ofSpan.map((row) => {
      const { target, podUid, pod, namespace, kind, exporter, model, adapter, tenant, resets } =
        row as unknown as MeteredSeries;
      const increases = Object.fromEntries(
        SERVING_COUNTERS.flatMap((name) => (row[name] === null ? [] : [[name, row[name] as number]])),
      );
      return { target, podUid, pod, namespace, kind, exporter, model, adapter, tenant, resets, increases };
    }),
  );
}
