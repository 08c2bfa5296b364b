import { setImmediate } from "node:timers/promises";
import type { Holding } from "../domain/holding.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { inTurns, slicesOf } from "../runtime/in-turns.ts";
import { HOUR_MILLIS, LONGEST_REACH_MILLIS, REACH_SQL } from "./rollup/window.ts";
import { announceRun, publishRun, type Run, type RunContent } from "./runs.ts";
import type { Measurement } from "./ledger/plan/measurement.ts";
import { integrate } from "./meter/integrate.ts";
import { askFor, usageHourOf, type MeasuredSegment } from "./ledger/plan/measure.ts";
import type { KnownDates } from "./ledger/plan/known-dates.ts";
import { planNode } from "./ledger/plan/plan.ts";
import { newlyProven } from "./ledger/plan/proven.ts";
import { hoursMetered, keepProofs } from "./meter/proofs.ts";
import { readCluster } from "./meter/read-cluster.ts";
import { createPodReader } from "./meter/read-pods.ts";
import { readNodeNames, readRecords } from "./meter/read-records.ts";
import { insertUsage, USAGE_COLUMNS } from "./meter/usage-rows.ts";

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
SELECT count() AS rows, sum(cityHash64(tuple(${USAGE_COLUMNS.join(", ")}))) AS hash
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
}

/** What metering a window came to. */
export interface MeteredWindow extends RunContent {
  /** The starts of other hours that were metered before this one proved who held something in them: they are to be metered again. */
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
  { dates, asOf, absentAfterMillis, signal }: MeterOptions,
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
  const proven: Holding[] = [];
  const slices = slicesOf(nodes, NODES_PER_SLICE);
  const names = slices.map((slice) => slice.map(({ node }) => node));
  const looked = { from: start - reachMillis, until: window.until };
  const podsOf = createPodReader(store, cluster, names, looked);
  await inTurns(slices, SLICES_AT_ONCE, async (slice, index) => {
    signal?.throwIfAborted();
    const records = await readRecords(store, cluster, slice, { window, looked, ofCluster, asked: podsOf(index) });
    const found = records.flatMap((record) => newlyProven(record).map((one) => ({ node: record.node, ...one })));
    await keepProofs(
      store,
      cluster,
      found.flatMap(({ node, labels }) => labels.map((label) => ({ node, label }))),
    );
    proven.push(...found.map(({ holding }) => holding));
    const measurements: Measurement[] = [];
    const segments: MeasuredSegment[] = [];
    for (const [planned, record] of records.entries()) {
      for (const segment of planNode(record, window, reachMillis, dates))
        segments.push(askFor(record, segment, measurements));
      if (planned % NODES_AT_A_STRETCH === 0) await setImmediate();
    }
    const sums = await integrate(store, measurements, { cluster, start, reachMillis, plan: `${runId}/${index}` });
    await insertUsage(
      store,
      runId,
      segments.map((segment) => usageHourOf(segment, sums)),
    );
  });
  const [digest] = await store.query<{ rows: string; hash: string }>(DIGEST, { cluster, start, run: runId });
  const content = { scrapes: 0, rows: Number(digest?.rows ?? 0), hash: digest?.hash ?? "0" };
  signal?.throwIfAborted();
  await publishRun(store, "usage", run, content);
  return { ...content, reopened: await hoursMetered(store, cluster, proven, start) };
}
