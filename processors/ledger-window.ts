import { createHash } from "node:crypto";
import type { StoreClient } from "../runtime/store/client.ts";
import { chargeWindow, type ChargeFindings, type ChargeRules } from "./charges.ts";
import { knownDates, type KnownDates } from "./ledger/plan/known-dates.ts";
import { meterWindow } from "./meter.ts";
import type { WindowOfCluster } from "./rollup/schedule.ts";
import { newRunId, type Watermark } from "./runs.ts";

/** By what hours are metered and charged, ready to be used for many of them. */
export interface LedgerRules {
  readonly charge: ChargeRules;
  readonly dates: KnownDates;
  /** Of all of it: where it differs, charges may. */
  readonly hash: string;
}

/** The rules of a configuration; `text` is all of it that they are made of. */
export function ledgerRules(charge: ChargeRules, text: string): LedgerRules {
  const hash = createHash("sha256").update(text).digest("hex");
  return { charge, dates: knownDates(charge.book, charge.owners.changes), hash };
}

/** Who computes, when, and what was looked at by then. */
export interface LedgerTurn {
  readonly generation: number;
  /** The places of facts below which all had been considered. */
  readonly facts: Watermark;
  readonly now: number;
}

/** What an hour came to. */
export interface LedgerWindow extends ChargeFindings {
  readonly usageRows: number;
  readonly chargeRows: number;
  /** Other hours that are to be computed again, as this one proved who held something in them. */
  readonly reopened: readonly WindowOfCluster[];
}

/** Meters and charges an hour of a cluster. Fails with a `StoreError`. */
export async function computeLedger(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  rules: LedgerRules,
  { generation, facts, now }: LedgerTurn,
  signal?: AbortSignal,
): Promise<LedgerWindow> {
  const run = { cluster, windowStart, generation, watermark: facts, publishedAt: now };
  const usageRun = newRunId();
  const { rows, reopened } = await meterWindow(
    store,
    { ...run, runId: usageRun },
    { dates: rules.dates, asOf: now, ...(signal === undefined ? {} : { signal }) },
  );
  signal?.throwIfAborted();
  const charged = await chargeAgain(store, { cluster, windowStart }, rules, { generation, usageRun, now });
  return {
    ...charged,
    usageRows: rows,
    reopened: reopened.map((start) => ({ cluster, windowStart: start })),
  };
}

/** Charges an hour of a cluster by what the meter has published of it, as `usageRun`. Fails with a `StoreError`. */
export async function chargeAgain(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  rules: LedgerRules,
  { generation, usageRun, now }: { readonly generation: number; readonly usageRun: string; readonly now: number },
): Promise<ChargeFindings & { readonly chargeRows: number }> {
  const run = { cluster, windowStart, generation, watermark: new Map(), publishedAt: now, runId: newRunId() };
  const basis = `${usageRun} ${rules.hash}`;
  const { content, ...findings } = await chargeWindow(store, { ...run, basis }, rules.charge);
  return { ...findings, chargeRows: content?.rows ?? 0 };
}

/** An hour whose charges were made of other usage or by other rules than now, or were not made. */
export interface StaleWindow extends WindowOfCluster {
  readonly usageRun: string;
}

/** The hours from a time on whose charges are stale, the newest first. */
export async function staleCharges(store: StoreClient, hash: string, from: number): Promise<readonly StaleWindow[]> {
  const latest = "argMax(RUN, (generation, published_at, toString(run_id)))";
  return store.query<StaleWindow>(
    `SELECT cluster, toFloat64(toUnixTimestamp(start)) * 1000 AS windowStart, usage_run AS usageRun
     FROM (
       SELECT cluster, window_start AS start, ${latest.replace("RUN", "toString(run_id)")} AS usage_run
       FROM runs WHERE kind = 'usage' AND window_start >= fromUnixTimestamp({from:Int64}) GROUP BY cluster, start
     ) AS usage
     LEFT JOIN (
       SELECT cluster, window_start AS start, ${latest.replace("RUN", "basis")} AS charged_by
       FROM runs WHERE kind = 'charge' AND window_start >= fromUnixTimestamp({from:Int64}) GROUP BY cluster, start
     ) AS charge USING (cluster, start)
     WHERE charged_by != concat(usage_run, ' ', {hash:String})
     ORDER BY start DESC`,
    { hash, from: Math.floor(from / 1000) },
  );
}
