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

/** Nodes that are metered in one go: their records and plans are held in memory. */
const NODES_PER_SLICE = 500;
/** Slices at once: while the store works on one, another is planned. */
const SLICES_AT_ONCE = 3;
/** After so many are planned what came in and what goes out has its turn. */
const NODES_AT_A_STRETCH = 32;

/** How far samples around a window reach at most. */
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

/** How a window is metered. */
export interface MeterOptions {
  readonly dates: KnownDates;
  /** The hour that runs is metered up to here. */
  readonly asOf: number;
  /** Without Kubernetes a slot ends after so long without a sample. */
  readonly absentAfterMillis: number;
  readonly signal?: AbortSignal | undefined;
  /** Takes rows as they are stored: all of some nodes, by node, slot and time, as they are read back. */
  readonly onUsage?: ((rows: readonly UsageHour[]) => Promise<void>) | undefined;
}

/** The rows of some nodes, on their way into the store. */
interface MeteredSlice {
  readonly rows: readonly UsageHour[];
  readonly stored: Promise<unknown>;
}

/** What metering a window came to. */
export interface MeteredWindow extends RunContent {
  /**
   * The starts of other hours that were metered before this one proved who held something in them, or showed a GPU of theirs: they are to
   * be metered again.
   */
  readonly reopened: readonly number[];
}

/**
 * Meters one UTC hour of one cluster: what is known of its nodes is read, their slots are planned, the store integrates what
 * samples said of them, and the rows of `usage_hours` are published as one run. The hour that runs is metered up to
 * `asOf`. The same facts, samples and dates give the same rows and hash. A crash on the way leaves rows without a published run,
 * which are dropped later. Fails with a `StoreError`.
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

  /** Slices are metered in any order, and handed on in that of their nodes. */
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

/** Work that is waited for later: whoever stops before that hears of no failure of what was done for nothing. */
function inBackground<Made>(work: Promise<Made>): Promise<Made> {
  work.catch(() => {});
  return work;
}
