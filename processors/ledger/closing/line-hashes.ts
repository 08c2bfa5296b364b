import { createHash, type Hash } from "node:crypto";
import { amountOf, formatAmount, lastUnits, type Quantity } from "../../../domain/exact/units.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ADDED_COLUMNS, CHARGE_COLUMNS } from "../../../runtime/store/schema/charges.ts";
import type { Column } from "../../../runtime/store/schema/table.ts";
import { CLOSED_BY } from "../closed/freeze.ts";

/** The lines of a team and cost center under a closing: their number, their sums as decimal texts, and a hash of their content. */
export interface HashedLines {
  readonly team: string;
  readonly costCenter: string;
  readonly lines: number;
  readonly gpuHours: string;
  readonly effective: string;
  /** SHA-256 over the hashes of their hours, in order of time. */
  readonly hash: string;
}

/** The added column whose text has no name before it. The hashes of closed periods have it so. */
const WITHOUT_NAME = "layout";

/**
 * Returns the canonical text of a line in SQL: every column except the run's, as text, with a character that no text contains for NULL. Added
 * columns come last, in the order of their names, with the name before the text, and only if they are neither empty nor NULL: a line of a closed
 * period has the same text after a column was added.
 */
export function lineText(columns: readonly Pick<Column, "name" | "type">[], added: ReadonlySet<string>): string {
  const first = columns.filter(({ name }) => !added.has(name)).map(({ name, type }) => type.canonical(name));
  const later = columns
    .filter(({ name }) => added.has(name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, type }) => {
      const text = type.canonical(name);
      return `if(${text} IN ('', '\\x00'), '', concat('\\x1f${name === WITHOUT_NAME ? "" : `${name}=`}', ${text}))`;
    });
  return `concat(${[`arrayStringConcat([${first.join(", ")}], '\\x1f')`, ...later].join(", ")})`;
}

const DAYS = `
SELECT DISTINCT toString(toDate(from_at)) AS day FROM charges WHERE policy = {policy:String} AND ${CLOSED_BY} ORDER BY day`;

const HOURS = `
SELECT team, costCenter, toString(toUnixTimestamp(hour)) AS hour, toFloat64(count()) AS lines, toString(sum(hours)) AS gpuHours,
  toString(sum(cost)) AS effective, lower(hex(SHA256(arrayStringConcat(arraySort(groupArray(line)))))) AS hash
FROM (
  SELECT team, cost_center AS costCenter, toStartOfHour(from_at) AS hour, gpu_hours AS hours, ifNull(effective_cost, 0) AS cost,
    SHA256(${lineText(CHARGE_COLUMNS, ADDED_COLUMNS)}) AS line
  FROM charges
  WHERE policy = {policy:String} AND toDate(from_at) = toDate({day:String}) AND ${CLOSED_BY}
)
GROUP BY team, costCenter, hour
ORDER BY team, costCenter, hour`;

/**
 * Hashes all lines of a closing under its policy, by payer. The hash of an hour is SHA-256 over the sorted SHA-256s of its lines. The store
 * computes it one day at a time, so that no period is in memory at once. Equal lines give equal hashes, in any insert order. Fails with a
 * `StoreError`.
 */
export async function hashLines(
  store: StoreClient,
  of: { readonly closeId: string; readonly policy: string },
): Promise<readonly HashedLines[]> {
  const parameters = { close: of.closeId, policy: of.policy };
  const days = await store.query<{ day: string }>(DAYS, parameters);
  const all = new Map<string, Hashing>();
  for (const { day } of days) {
    for await (const hours of store.stream<HourRow>(HOURS, { ...parameters, day })) {
      for (const { team, costCenter, hour, lines, gpuHours, effective, hash } of hours) {
        const key = JSON.stringify([team, costCenter]);
        const known = all.get(key) ?? { lines: 0, gpuHours: 0n, effective: 0n, hash: createHash("sha256") };
        all.set(key, {
          team,
          costCenter,
          lines: known.lines + lines,
          gpuHours: known.gpuHours + amountOf(gpuHours),
          effective: known.effective + amountOf(effective),
          hash: known.hash.update(`${hour} ${lines} ${hash}\n`),
        });
      }
    }
  }
  return [...all.values()].map(({ gpuHours, effective, hash, ...lines }) => ({
    ...lines,
    gpuHours: formatAmount(lastUnits<Quantity>(gpuHours)),
    effective: formatAmount(lastUnits<Quantity>(effective)),
    hash: hash.digest("hex"),
  }));
}

interface Hashing {
  readonly team: string;
  readonly costCenter: string;
  readonly lines: number;
  readonly gpuHours: bigint;
  readonly effective: bigint;
  readonly hash: Hash;
}

interface HourRow {
  readonly team: string;
  readonly costCenter: string;
  readonly hour: string;
  readonly lines: number;
  readonly gpuHours: string;
  readonly effective: string;
  readonly hash: string;
}
