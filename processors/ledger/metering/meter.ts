import { setImmediate } from "node:timers/promises";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import { listOf } from "../../../runtime/store/schema/table.ts";
import { USAGE_COLUMNS } from "../../../runtime/store/schema/usage.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { inTurns, slicesOf } from "../../../runtime/in-turns.ts";
import { LONGEST_REACH_MILLIS, REACH_SQL } from "../hours/window.ts";
import { announceRun, publishRun, type Run, type RunContent } from "../hours/runs.ts";
import type { Measurement } from "../plan/measurement.ts";
import { dropPlan, integrate } from "./integrate.ts";
import type { Span } from "../plan/node-record.ts";
import { askFor, usageHourOf, type MeasuredSegment } from "../plan/measure.ts";
import type { KnownDates } from "../plan/known-dates.ts";
import { planNode } from "../plan/plan.ts";
import { newlyProven } from "../plan/proven.ts";
import { hoursMetered, keepProofs } from "./proofs.ts";
import { readCluster } from "./read-cluster.ts";
import { createFactReader } from "./read-facts.ts";
import { readNodeNames, readRecords, type NamedNode } from "./read-records.ts";
import { spansOfNewGpus } from "./read-silent.ts";
import { insertUsage } from "./usage-rows.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The number of nodes that are metered together. Their records and plans are in memory. */
const NODES_PER_SLICE = 500;
/** The number of slices in progress. While the store works on one, another is planned. */
const SLICES_AT_ONCE = 3;
/** The number of planned nodes after which other work of the event loop gets its turn. */
const NODES_AT_A_STRETCH = 32;

/** Selects the longest time that samples around a window cover. */
const REACH = `
SELECT toFloat64(max(${REACH_SQL})) AS reach FROM scrapes
WHERE cluster = {cluster:String}
  AND scraped_at >= fromUnixTimestamp64Milli({start:Int64} - ${LONGEST_REACH_MILLIS})
  AND scraped_at < fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS})`;

const DIGEST = `
SELECT count() AS rows, sum(cityHash64(tuple(${listOf(USAGE_COLUMNS)}))) AS hash
FROM usage_hours
WHERE cluster = {cluster:String} AND run_id = toUUID({run:String})
  AND from_at >= fromUnixTimestamp64Milli({start:Int64}) AND from_at < fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS})`;

/** The options of metering a window. */
export interface MeterOptions {
  readonly dates: KnownDates;
  /** The end of metering for the running hour, milliseconds since the epoch. */
  readonly asOf: number;
  /** Without Kubernetes, a slot ends if it has no sample for this many milliseconds. */
  readonly absentAfterMillis: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets rows as they are stored: all rows of some nodes, sorted by node, slot and time, as they are read back. */
  readonly onUsage?: ((rows: readonly UsageHour[]) => Promise<void>) | undefined;
}

/** The rows of some nodes while they are being inserted. */
interface MeteredSlice {
  readonly rows: readonly UsageHour[];
  readonly stored: Promise<unknown>;
}

/** The result of metering a window. */
export interface MeteredWindow extends RunContent {
  /** The starts of other hours to meter again, because this hour proved a holder in them, or showed a GPU of them. */
  readonly reopened: readonly number[];
}

/**
 * Meters one UTC hour of one cluster. It reads the records of the nodes, plans their slots, lets the store integrate the samples, and
 * publishes the rows of `usage_hours` as one run. The running hour is metered up to `asOf`. The same facts, samples and dates give the same
 * rows and hash. A crash leaves rows without a published run, which are dropped later. Fails with a `StoreError`.
 */
export async function meterWindow(
  store: StoreClient,
  run: Run,
  { dates, asOf, absentAfterMillis, signal, onUsage }: MeterOptions,
): Promise<MeteredWindow> {
  const { cluster, windowStart: start, runId } = run;
  await announceRun(store, run);
  const [found] = await store.query<{ reach: number }>(REACH, { cluster, start });
  const reachMillis = found?.reach ?? 0;
  const window = { from: start, until: Math.min(start + HOUR_MILLIS, asOf), reachMillis, asOf, absentAfterMillis };
  const [nodes, ofCluster] = await Promise.all([
    readNodeNames(store, cluster, window),
    readCluster(store, cluster, window),
  ]);
  const changed: Span[] = [];
  const slices = slicesOf(nodes, NODES_PER_SLICE);
  const names = slices.map((slice) => slice.map(({ node }) => node));
  const looked = { from: start - reachMillis, until: window.until };
  const factsOf = createFactReader(store, cluster, names, looked);
  let isPlanned = false;

  async function meter(slice: readonly NamedNode[], index: number): Promise<MeteredSlice> {
    signal?.throwIfAborted();
    const records = await readRecords(store, cluster, slice, { window, looked, ofCluster, facts: factsOf(index) });
    const found = records.flatMap((record) => newlyProven(record).map((one) => ({ node: record.node, ...one })));
    changed.push(...found.map(({ holding }) => holding), ...(await spansOfNewGpus(store, cluster, records, window)));
    const labels = found.flatMap(({ node, labels: ofNode }) => ofNode.map((label) => ({ node, label })));
    const kept = inBackground(keepProofs(store, cluster, labels));
    const measurements: Measurement[] = [];
    const segments: MeasuredSegment[] = [];
    for (const [planned, record] of records.entries()) {
      for (const segment of planNode(record, window, reachMillis, dates))
        segments.push(askFor(record, segment, measurements));
      if (planned % NODES_AT_A_STRETCH === 0) await setImmediate();
    }
    isPlanned ||= measurements.length > 0;
    const sums = await integrate(store, measurements, { cluster, start, reachMillis, plan: runId });
    const rows = segments.map((segment) => usageHourOf(segment, sums));
    return { rows, stored: inBackground(Promise.all([kept, insertUsage(store, runId, rows)])) };
  }

  /** Slices are metered in any order, and passed on in the order of their nodes. */
  async function handOn(metered: Promise<MeteredSlice>, before: Promise<void>): Promise<void> {
    await Promise.allSettled([metered, before]);
    await before;
    const { rows, stored } = await metered;
    await onUsage?.(rows);
    await stored;
  }

  let handed: Promise<void> = Promise.resolve();
  try {
    await inTurns(slices, SLICES_AT_ONCE, (slice, index) => (handed = handOn(meter(slice, index), handed)));
  } finally {
    if (isPlanned) await dropPlan(store, runId);
  }
  const [digest] = await store.query<{ rows: string; hash: string }>(DIGEST, { cluster, start, run: runId });
  const content = { scrapes: 0, rows: Number(digest?.rows ?? 0), hash: digest?.hash ?? "0" };
  signal?.throwIfAborted();
  await publishRun(store, "usage", run, content);
  return { ...content, reopened: await hoursMetered(store, cluster, changed, start) };
}

/** Returns work that is awaited later. If the caller stops before that, its failure is ignored. */
function inBackground<Made>(work: Promise<Made>): Promise<Made> {
  work.catch(() => {});
  return work;
}
