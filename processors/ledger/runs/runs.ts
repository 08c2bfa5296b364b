import { randomUUID } from "node:crypto";
import { dateText, periodOf } from "../../../domain/period.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** For each partition of the bus, the position below which all input was considered. */
export type Watermark = ReadonlyMap<number, number>;

/** A run of one window, before or after it is published. Times are milliseconds since the epoch. */
export interface Run {
  readonly cluster: string;
  readonly windowStart: number;
  readonly runId: string;
  readonly generation: number;
  readonly watermark: Watermark;
  /** Given by the caller. Of two runs of one generation, the later one counts. */
  readonly publishedAt: number;
  /** The start of the billing period that the rows are booked in. If absent: the period of the window. */
  readonly billingPeriod?: number;
  /** True for a run that is never published: its rows are looked at, and dropped later. */
  readonly isTrial?: boolean;
}

/** The content of a run, recorded when it is published. */
export interface RunContent {
  /** Scrapes that overlap the window. */
  readonly scrapes: number;
  readonly rows: number;
  /** A hash of the rows' content, as a decimal string of 64 bits. */
  readonly hash: string;
  /** The basis of the rows, if that is not samples. Equal bases give equal rows. */
  readonly basis?: string;
}

/** Returns a new unique name for a run. */
export function newRunId(): string {
  return randomUUID();
}

/** Records that a run may have rows from now on. If the run is never published, its rows can be found. */
export async function announceRun(store: StoreClient, run: Run): Promise<void> {
  await insertRun(store, "started", run, { scrapes: 0, rows: 0, hash: "0" });
}

/** The output of a run: rollups of the samples, usage rows of the meter, hours of serving, costs of exports, charges, or corrections of closed charges. */
export type RunKind = "rollup" | "usage" | "serving" | "invoice" | "charge" | "correction";

/** Makes all rows of a run visible, in one insert, unless it is a trial. Fails with a `StoreError`. */
export async function publishRun(store: StoreClient, kind: RunKind, run: Run, content: RunContent): Promise<void> {
  if (run.isTrial !== true) await insertRun(store, kind, run, content);
}

/** Records that a leader begins with this generation. Fails with a `StoreError`. */
export async function recordElection(store: StoreClient, generation: number, atMillis: number): Promise<void> {
  const run = {
    cluster: "",
    windowStart: 0,
    runId: newRunId(),
    generation,
    watermark: new Map(),
    publishedAt: atMillis,
  };
  await insertRun(store, "election", run, { scrapes: 0, rows: 0, hash: "0" });
}

async function insertRun(
  store: StoreClient,
  kind: "election" | "started" | RunKind,
  run: Run,
  { scrapes, rows, hash, basis = "" }: RunContent,
): Promise<void> {
  await insertRecords(store, "runs", [
    {
      kind,
      cluster: run.cluster,
      window_start: run.windowStart / 1000,
      window_end: (run.windowStart + (kind === "election" ? 0 : HOUR_MILLIS)) / 1000,
      run_id: run.runId,
      generation: run.generation,
      watermark: Object.fromEntries(run.watermark),
      scrapes,
      rows,
      hash,
      published_at: new Date(run.publishedAt).toISOString(),
      basis,
      billing_period: dateText(periodOf(run.billingPeriod ?? run.windowStart).from),
    },
  ]);
}
