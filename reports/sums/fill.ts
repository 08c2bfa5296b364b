import { randomUUID } from "node:crypto";
import { periodOf } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";

const HOUR_MILLIS = 3_600_000;

/** A published run of which there are no sums yet; times in milliseconds since the epoch. */
export interface UnsummedRun {
  readonly run: string;
  /** `charge`, `correction`, or `close` of what a closing made. */
  readonly kind: string;
  readonly windowStart: number;
  readonly billingPeriod: number;
}

/** What a closing made comes last: as soon as it is summed the period is read as it was closed. */
const UNSUMMED = `
SELECT toString(run_id) AS run, kind, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart,
  toFloat64(toUnixTimestamp(toDateTime(billing_period, 'UTC'))) * 1000 AS billingPeriod
FROM charge_runs WHERE run_id NOT IN (SELECT run_id FROM summed_runs)
ORDER BY kind = 'close', window_start DESC, run`;

/** The published runs that have no sums, in the order in which they should get them. Fails with a `StoreError`. */
export function readUnsummed(store: Pick<StoreClient, "query">): Promise<readonly UnsummedRun[]> {
  return store.query<UnsummedRun>(UNSUMMED);
}

const KEYS = [
  "policy",
  "billing_period",
  "corrects",
  "cluster",
  "from_at",
  "gpu_model",
  "instance_type",
  "region",
  "zone",
  "pool",
  "capacity_type",
  "state",
  "because",
  "payer",
  "team",
  "cost_center",
  "project",
  "environment",
  "is_held",
  "namespace",
  "workload_kind",
  "workload_type",
  "queue",
  "priority_class",
  "attribution",
  "price",
  "priced_since",
  "team_rule",
];
const SUMMED = [
  "gpu_hours",
  "list_cost",
  "contracted_cost",
  "effective_cost",
  "power_cost",
  "energy_mj",
  "carbon_grams",
];

/** The same wherever it is made of a run and the same random text. */
const FILL_ID = "reinterpretAsUUID(sipHash128({fill:String}, run_id))";

/** What has no price is a row of its own, whose costs are NULL. */
const fillOf = (table: string, keys: readonly string[], from: string, lines: string, dearest: string): string => `
INSERT INTO ${table} (run_id, fill_id, ${keys.join(", ")}, lines, dearest, ${SUMMED.join(", ")})
SELECT run_id, ${FILL_ID}, ${keys.join(", ")}, ${lines}, max(each.${dearest}), ${SUMMED.map((name) => `sum(each.${name})`).join(", ")}
FROM (${from}) AS each GROUP BY run_id, ${keys.join(", ")}, each.effective_cost IS NULL`;

const IN_TIME = `from_at >= ${momentSql("from")} AND from_at < ${momentSql("until")}`;
const LINES = `
SELECT * REPLACE (toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS from_at), holder != '' AS is_held
FROM (SELECT * FROM charges WHERE run_id IN {runs:Array(UUID)} AND ${IN_TIME})`;
const WORKLOADS = `SELECT * FROM charge_workload_sums WHERE run_id IN {runs:Array(UUID)} AND fill_id = ${FILL_ID} AND ${IN_TIME}`;
const SUMMED_RUNS = `
INSERT INTO summed_runs (run_id, fill_id, window_start)
SELECT run.1 AS run_id, ${FILL_ID}, toDateTime(run.2, 'UTC')
FROM (SELECT arrayJoin(arrayZip({runs:Array(UUID)}, {starts:Array(UInt32)})) AS run)`;

/**
 * Makes the sums of some runs. Whoever else does the same at the same time does no harm, nor does one that breaks off. Fails with a
 * `StoreError`.
 */
export async function fillSums(store: StoreClient, runs: readonly UnsummedRun[]): Promise<void> {
  const fill = randomUUID();
  for (const isOfClosings of [false, true]) {
    const some = runs.filter(({ kind }) => (kind === "close") === isOfClosings);
    if (some.length === 0) continue;
    const starts = some.map(({ windowStart }) => windowStart);
    const from = Math.min(...starts);
    const until = isOfClosings ? periodOf(Math.max(...starts)).until : Math.max(...starts) + HOUR_MILLIS;
    const parameters = { fill, runs: some.map(({ run }) => run), from, until };
    await store.command(
      fillOf("charge_workload_sums", [...KEYS, "workload"], LINES, "count()", "effective_cost"),
      parameters,
    );
    await store.command(fillOf("charge_sums", KEYS, WORKLOADS, "sum(each.lines)", "dearest"), parameters);
  }
  const starts = runs.map(({ windowStart }) => windowStart / 1000);
  await store.command(SUMMED_RUNS, { fill, runs: runs.map(({ run }) => run), starts });
}
