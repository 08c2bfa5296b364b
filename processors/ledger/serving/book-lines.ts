import { lastUnits } from "../../../domain/exact/units.ts";
import {
  addAmounts,
  isEmpty,
  mapAmounts,
  NO_AMOUNTS,
  NO_COUNTS,
  SERVING_COUNTS,
  type ServingAmounts,
  type ServingCounts,
} from "../../../domain/serving/line.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { RUN_ID } from "../../../runtime/store/schema/runs.ts";
import { SERVING_CHARGE_COLUMNS, type BookedServingLine } from "../../../runtime/store/schema/serving.ts";
import { createBlocks, namesOf, rowReader, selectionOf } from "../../../runtime/store/schema/table.ts";
import type { Booking } from "./booking.ts";
import { FROZEN } from "../closed/frozen.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import type { Span } from "../plan/node-record.ts";
import type { RuledLine } from "./serving-split.ts";

/** Inserts the lines of services of one hour under a run that is not visible yet. Fails with a `StoreError`. */
export async function insertServingLines(
  store: StoreClient,
  { run, policy, billingPeriod, corrects = "" }: Booking,
  hour: number,
  lines: readonly RuledLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const constants = { run_id: run, policy, billing_period: billingPeriod, corrects, hour };
  const rows = createBlocks<RuledLine>([RUN_ID, ...SERVING_CHARGE_COLUMNS], constants);
  for (const line of lines) rows.write(line);
  await store.insertRows("serving_charges", namesOf(rows.columns), rows.take());
}

const readRow = rowReader(SERVING_CHARGE_COLUMNS) as (row: Readonly<Record<string, unknown>>) => BookedServingLine;

/** Reads the published lines of a policy of the hours of a span, of all clusters. Fails with a `StoreError`. */
export async function readServingLines(
  store: StoreClient,
  policy: string,
  span: Span,
): Promise<readonly BookedServingLine[]> {
  const rows = await store.query<Record<string, unknown>>(
    `SELECT ${selectionOf(SERVING_CHARGE_COLUMNS)} FROM serving_charges_published
     WHERE policy = {policy:String}
       AND hour >= fromUnixTimestamp64Milli({from:Int64}) AND hour < fromUnixTimestamp64Milli({until:Int64})`,
    { policy, ...span },
  );
  return rows.map(readRow);
}

/** Reads the lines that closed periods have booked for an hour of a cluster under a policy. Fails with a `StoreError`. */
export async function readBookedLines(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  policy: string,
): Promise<readonly RuledLine[]> {
  return together(store, readAllBooked, { cluster, windowStart, policy });
}

async function readAllBooked(
  store: StoreClient,
  asked: readonly (WindowOfCluster & { readonly policy: string })[],
): Promise<readonly (readonly RuledLine[])[]> {
  const rows = await store.query<Record<string, unknown> & { readonly bookedUnder: string }>(
    `SELECT policy AS bookedUnder, ${selectionOf(SERVING_CHARGE_COLUMNS)} FROM serving_charges
     WHERE policy IN {policies:Array(String)} AND cluster = {cluster:String}
       AND toUnixTimestamp(hour) IN {hours:Array(Int64)} AND ${FROZEN}`,
    {
      policies: asked.map(({ policy }) => policy),
      cluster: asked[0]!.cluster,
      hours: asked.map(({ windowStart }) => windowStart / 1000),
    },
  );
  const lines = rows.map((row) => ({ policy: row.bookedUnder, line: readRow(row) }));
  const byHour = groupedBy(lines, ({ policy, line }) => `${line.hour} ${policy}`);
  return asked.map(({ policy, windowStart }) => (byHour.get(`${windowStart} ${policy}`) ?? []).map(({ line }) => line));
}

/**
 * Returns the lines that turn booked lines into the recomputed ones: for each line key the difference, with 0 for an absent side. A key is
 * every field of a line without its basis, amounts and counts. Lines without a difference are left out.
 */
export function lineCorrections(recomputed: readonly RuledLine[], booked: readonly RuledLine[]): readonly RuledLine[] {
  const lines = new Map<string, RuledLine>();
  const count = (line: RuledLine, sign: 1 | -1): void => {
    const key = keyOf(line);
    const { amounts, counts, saved, ...like } = lines.get(key) ?? { ...line, ...NOTHING };
    lines.set(key, {
      ...like,
      amounts: addAmounts(amounts, times(line.amounts, BigInt(sign))),
      counts: addCounts(counts, line.counts, sign),
      saved: lastUnits(saved + BigInt(sign) * line.saved),
    });
  };
  for (const line of recomputed) count(line, 1);
  for (const line of booked) count(line, -1);
  return [...lines.values()].filter((line) => !isEmpty(line) || line.saved !== 0n);
}

const NOTHING = { amounts: NO_AMOUNTS, counts: NO_COUNTS, saved: lastUnits<"currency">(0n) };

function times(amounts: ServingAmounts, factor: bigint): ServingAmounts {
  return mapAmounts((name) => {
    const amount = amounts[name];
    return amount === undefined ? undefined : factor * amount;
  });
}

function addCounts(a: ServingCounts, b: ServingCounts, sign: 1 | -1): ServingCounts {
  return Object.fromEntries(SERVING_COUNTS.map((name) => [name, a[name] + sign * b[name]])) as unknown as ServingCounts;
}

const KEYS = [
  "rule",
  "cluster",
  "namespace",
  "workloadKind",
  "workload",
  "model",
  "adapter",
  "tenant",
  "phase",
  "payer",
  "team",
  "costCenter",
  "project",
  "environment",
  "gpuModel",
] as const satisfies readonly (keyof RuledLine)[];

/** Returns the key of a line. Priced and unpriced lines have different keys, as charges have. */
function keyOf(line: RuledLine): string {
  return JSON.stringify([line.amounts.effective === undefined, ...KEYS.map((name) => line[name])]);
}
