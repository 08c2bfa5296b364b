import { randomUUID } from "node:crypto";
import { periodOf } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { SUMMED_COLUMNS, SUMS_KEYS, WORKLOAD_SUMS_KEYS } from "../../runtime/store/schema/charge-views.ts";
import { momentSql } from "../question/question.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";

/** A run that counts. Times are milliseconds since the epoch. */
export interface CountedRun {
  readonly run: string;
  /** `charge`, `correction`, or `close` for the lines of a closing. */
  readonly kind: string;
  readonly windowStart: number;
}

/** The runs of a day. Each has a part. */
export interface DayOfRuns {
  /** The id of these runs. */
  readonly id: string;
  readonly start: number;
  readonly runs: readonly string[];
  /** The parts of the runs. */
  readonly parts: readonly string[];
}

/** SQL of the same id for the same run and the same random text. */
const PART_ID = "reinterpretAsUUID(sipHash128({fill:String}, run_id))";

/** Returns the SQL of an insert. Unpriced lines are a row of their own, with NULL as costs. */
const insertInto = (table: string, keys: readonly string[], from: string, lines: string, dearest: string): string => `
INSERT INTO ${table} (run_id, part_id, ${keys.join(", ")}, lines, dearest, ${SUMMED_COLUMNS.join(", ")})
SELECT run_id, ${PART_ID}, ${keys.join(", ")}, ${lines}, max(each.${dearest}), ${SUMMED_COLUMNS.map((name) => `sum(each.${name})`).join(", ")}
FROM (${from}) AS each GROUP BY run_id, ${keys.join(", ")}, each.effective_cost IS NULL`;

const IN_TIME = `from_at >= ${momentSql("from")} AND from_at < ${momentSql("until")}`;

const OF_LINES = insertInto(
  "charge_workload_sums",
  WORKLOAD_SUMS_KEYS,
  `SELECT * REPLACE (toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS from_at), holder != '' AS is_held
   FROM (SELECT * FROM charges WHERE run_id IN {runs:Array(UUID)} AND ${IN_TIME})`,
  "count()",
  "effective_cost",
);
const OF_HOURS = insertInto(
  "charge_workload_sums",
  WORKLOAD_SUMS_KEYS,
  `SELECT * REPLACE (arrayElement({runs:Array(UUID)}, 1) AS run_id, toDateTime64(toStartOfDay(from_at, 'UTC'), 3, 'UTC') AS from_at)
   FROM (SELECT * FROM charge_workload_sums WHERE part_id IN {parts:Array(UUID)} AND ${IN_TIME})`,
  "sum(each.lines)",
  "dearest",
);
const OF_WORKLOADS = insertInto(
  "charge_sums",
  SUMS_KEYS,
  `SELECT * FROM charge_workload_sums WHERE run_id IN {runs:Array(UUID)} AND part_id = ${PART_ID} AND ${IN_TIME}`,
  "sum(each.lines)",
  "dearest",
);
const WHOLE = `
INSERT INTO charge_sum_parts (run_id, part_id, window_start, runs)
SELECT run.1 AS run_id, ${PART_ID}, toDateTime(run.2, 'UTC'), if(empty({members:Array(UUID)}), [run_id], {members:Array(UUID)})
FROM (SELECT arrayJoin(arrayZip({runs:Array(UUID)}, {starts:Array(UInt32)})) AS run)`;

/** Makes the sums of some runs, one part for each run. Concurrent and aborted calls do no harm. Fails with a `StoreError`. */
export async function sumRuns(store: StoreClient, runs: readonly CountedRun[]): Promise<void> {
  const fill = randomUUID();
  for (const isOfClosings of [false, true]) {
    const some = runs.filter(({ kind }) => (kind === "close") === isOfClosings);
    if (some.length === 0) continue;
    const starts = some.map(({ windowStart }) => windowStart);
    const from = Math.min(...starts);
    const until = isOfClosings ? periodOf(Math.max(...starts)).until : Math.max(...starts) + HOUR_MILLIS;
    const parameters = { fill, runs: some.map(({ run }) => run), from, until };
    await store.command(OF_LINES, parameters);
    await store.command(OF_WORKLOADS, parameters);
  }
  const starts = runs.map(({ windowStart }) => windowStart / 1000);
  await store.command(WHOLE, { fill, runs: runs.map(({ run }) => run), starts, members: [] });
}

/** Adds up the parts of a day's runs to one part. Concurrent and aborted calls do no harm. Fails with a `StoreError`. */
export async function sumDay(store: StoreClient, { id, start, runs, parts }: DayOfRuns): Promise<void> {
  const parameters = { fill: randomUUID(), runs: [id], from: start, until: start + DAY_MILLIS };
  await store.command(OF_HOURS, { ...parameters, parts });
  await store.command(OF_WORKLOADS, parameters);
  await store.command(WHOLE, { ...parameters, starts: [start / 1000], members: runs });
}
