import { createHash } from "node:crypto";
import { dateText, type BillingPeriod } from "../../../domain/period.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";

/** The frozen runs of a closing, as its document lists them. */
export interface FrozenRuns {
  readonly count: number;
  /** SHA-256 over all runs in order. */
  readonly hash: string;
}

/** A condition on `charges`: the closing `{close:String}` has frozen their run, and they do not wait to be spread. */
export const CLOSED_BY = `run_id IN (
  SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind IN ('charge', 'correction', 'close')
) AND payer != 'spread'`;

const RUNS = `
SELECT toString(kind) AS kind, toString(cluster) AS cluster, window_start AS start, toString(run_id) AS run, splitByChar(' ', basis)[1] AS usage
FROM charge_runs
INNER JOIN (SELECT run_id, any(basis) AS basis FROM runs WHERE kind IN ('charge', 'correction') GROUP BY run_id) AS made USING (run_id)
WHERE billing_period = toDate({period:String})`;

/**
 * Freezes the current runs of a period, under a closing that is not visible yet: the charges of its hours, the corrections that are booked
 * in it, and the usage runs of both. A closing also has a run with its own id. Fails with a `StoreError`.
 */
export async function freezeRuns(
  store: StoreClient,
  period: BillingPeriod,
  closeId: string,
  frozenAt: number,
): Promise<void> {
  const runs = await store.query<{ kind: string; cluster: string; start: string; run: string; usage: string }>(RUNS, {
    period: dateText(period.from),
  });
  const rowOf = (kind: string, cluster: string, start: string | number, run: string): object => ({
    close_id: closeId,
    billing_period: dateText(period.from),
    kind,
    cluster,
    window_start: start,
    run_id: run,
    frozen_at: new Date(frozenAt).toISOString(),
  });
  await insertRecords(store, "closed_runs", [
    ...runs.map(({ kind, cluster, start, run }) => rowOf(kind, cluster, start, run)),
    ...runs.map(({ cluster, start, usage }) => rowOf("usage", cluster, start, usage)),
    rowOf("close", "", period.from / 1000, closeId),
  ]);
}

/** Counts and hashes the runs that a closing has frozen. Fails with a `StoreError`. */
export async function frozenRuns(store: StoreClient, closeId: string): Promise<FrozenRuns> {
  const hash = createHash("sha256");
  let count = 0;
  const rows = store.stream<{ line: string }>(
    `SELECT arrayStringConcat([toString(kind), toString(cluster), toString(toUnixTimestamp(window_start)), toString(run_id)], ' ') AS line
     FROM closed_runs WHERE close_id = toUUID({close:String}) ORDER BY kind, cluster, window_start, run_id`,
    { close: closeId },
  );
  for await (const portion of rows) {
    for (const { line } of portion) hash.update(`${line}\n`);
    count += portion.length;
  }
  return { count, hash: hash.digest("hex") };
}
