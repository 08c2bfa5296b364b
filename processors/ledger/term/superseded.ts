import { groupedBy } from "../../../domain/grouped.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { RunKind } from "../runs/runs.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { keyOf } from "../../../domain/charge/window-of-cluster.ts";

/** How long superseded rows stay, for readers that began with them. */
export const SUPERSEDED_KEPT_MILLIS = HOUR_MILLIS;

/** A run in `runs`, announced or published. */
export interface KnownRun {
  readonly cluster: string;
  readonly windowStart: number;
  readonly runId: string;
  readonly generation: number;
  readonly publishedAt: number;
  /** The kind of the run; undefined if it was announced but not published. */
  readonly kind: RunKind | undefined;
  /** The first day of the billing period in which its rows are booked. */
  readonly billingPeriod: string;
}

/**
 * Returns the runs that are no longer needed: a better run of the same window, kind and billing period was published more than one hour
 * ago. Runs that were announced and never published go with them. If no better run is published, such a run may still be published and
 * stays.
 */
export function supersededRuns(runs: readonly KnownRun[], nowMillis: number): readonly KnownRun[] {
  const windows = groupedBy(runs, keyOf);
  return [...windows.values()].flatMap((ofWindow) =>
    ofWindow.filter((run) =>
      ofWindow.some(
        (other) =>
          other.kind !== undefined &&
          (run.kind === undefined || (run.kind === other.kind && run.billingPeriod === other.billingPeriod)) &&
          isBetter(other, run) &&
          nowMillis - other.publishedAt > SUPERSEDED_KEPT_MILLIS,
      ),
    ),
  );
}

/** Returns whether readers prefer `one` to `other`, in the same order as the views of the store. */
function isBetter(one: KnownRun, other: KnownRun): boolean {
  if (one.generation !== other.generation) return one.generation > other.generation;
  if (one.publishedAt !== other.publishedAt) return one.publishedAt > other.publishedAt;
  return one.runId > other.runId;
}

/**
 * Drops the rows of superseded runs, then the runs themselves, so that a crash in between is resumed. Runs that a closing froze stay for
 * ever. Only the partitions with their rows are touched. Returns the number of dropped runs. Fails with a `StoreError`.
 */
export async function dropSuperseded(store: StoreClient, nowMillis: number): Promise<number> {
  const superseded = await withoutFrozen(store, supersededRuns(await readRuns(store), nowMillis));
  if (superseded.length === 0) return 0;
  for (const { table, digits, kinds } of TABLES) {
    const ofTable = superseded.filter((run) => run.kind === undefined || kinds.some((kind) => kind === run.kind));
    const partitions = groupedBy(ofTable, ({ windowStart }) => partitionOf(windowStart, digits));
    for (const [partition, runs] of partitions) {
      await deleteRuns(store, `${table} IN PARTITION ${partition} WHERE`, idsOf(runs));
    }
  }
  await dropSums(store, superseded);
  await deleteRuns(store, "runs WHERE kind != 'election' AND", idsOf(superseded));
  return superseded.length;
}

/** The most run ids that fit into a URL, which holds the parameters of a command. */
const DELETED_AT_ONCE = 2_000;

async function deleteRuns(store: StoreClient, where: string, runs: readonly string[]): Promise<void> {
  for (let first = 0; first < runs.length; first += DELETED_AT_ONCE) {
    const ids = runs.slice(first, first + DELETED_AT_ONCE);
    await store.command(`DELETE FROM ${where} run_id IN {runs:Array(UUID)}`, { runs: ids });
  }
}

function idsOf(runs: readonly KnownRun[]): readonly string[] {
  return runs.map(({ runId }) => runId);
}

/** Drops sums of superseded runs, and of days with one of them. The rows that name the sums go last, so that a crash is resumed. */
async function dropSums(store: StoreClient, superseded: readonly KnownRun[]): Promise<void> {
  for (const [partition, runs] of groupedBy(superseded, ({ windowStart }) => partitionOf(windowStart, 6))) {
    const parts = await store.query<{ readonly run: string }>(
      `SELECT DISTINCT toString(run_id) AS run FROM charge_sum_parts
       WHERE toYYYYMM(window_start) = {month:UInt32} AND hasAny(runs, {runs:Array(UUID)})`,
      { month: Number(partition), runs: idsOf(runs) },
    );
    const ids = parts.map(({ run }) => run);
    for (const table of ["charge_sums", "charge_workload_sums", "charge_sum_parts"])
      await deleteRuns(store, `${table} IN PARTITION ${partition} WHERE`, ids);
  }
}

/** The tables with rows of runs, and the number of date digits that name a partition. */
const TABLES = [
  { table: "gpu_5m", digits: 8, kinds: ["rollup"] },
  { table: "gpu_hours", digits: 6, kinds: ["rollup"] },
  { table: "usage_hours", digits: 6, kinds: ["usage"] },
  { table: "serving_hours", digits: 6, kinds: ["serving"] },
  { table: "invoiced_hours", digits: 6, kinds: ["invoice"] },
  { table: "charges", digits: 6, kinds: ["charge", "correction"] },
  { table: "serving_charges", digits: 6, kinds: ["charge", "correction"] },
] as const;

async function withoutFrozen(store: StoreClient, runs: readonly KnownRun[]): Promise<readonly KnownRun[]> {
  if (runs.length === 0) return runs;
  const rows = await store.query<{ run: string }>(
    `SELECT DISTINCT toString(run_id) AS run FROM closed_runs
     WHERE close_id IN (SELECT close_id FROM closed_periods) AND window_start IN {windows:Array(DateTime('UTC'))}`,
    { windows: [...new Set(runs.map(({ windowStart }) => windowStart / 1000))] },
  );
  const frozen = new Set(rows.map(({ run }) => run));
  return runs.filter(({ runId }) => !frozen.has(runId));
}

/** Returns `toYYYYMMDD` or `toYYYYMM`, by the number of digits. An hour lies in exactly one partition. */
function partitionOf(windowStart: number, digits: 6 | 8): string {
  return new Date(windowStart).toISOString().replaceAll("-", "").slice(0, digits);
}

async function readRuns(store: StoreClient): Promise<readonly KnownRun[]> {
  const rows = await store.query<{
    cluster: string;
    start: string;
    run: string;
    generation: string;
    at: string;
    made: RunKind | "";
    period: string;
  }>(`
    SELECT cluster, toInt64(toUnixTimestamp(window_start)) AS start, toString(run_id) AS run, max(generation) AS generation,
      max(toUnixTimestamp64Milli(published_at)) AS at, anyIf(kind, kind != 'started') AS made,
      max(billing_period) AS period
    FROM runs
    WHERE kind != 'election' AND (cluster, window_start) IN (
      SELECT cluster, window_start FROM runs WHERE kind = 'started'
      GROUP BY cluster, window_start HAVING uniqExact(run_id) > 1
    )
    GROUP BY cluster, start, run`);
  return rows.map(({ cluster, start, run, generation, at, made, period }) => ({
    cluster,
    windowStart: Number(start) * 1000,
    runId: run,
    generation: Number(generation),
    publishedAt: Number(at),
    kind: made === "" ? undefined : made,
    billingPeriod: period,
  }));
}
