import type { StoreClient } from "../../../runtime/store/client.ts";
import {
  DESCRIPTIONS,
  INCREASE_MEASURES,
  MAX_MEASURES,
  MEAN_MEASURES,
  ROLLUP_COLUMNS,
  ROW_KEY,
} from "../../../runtime/store/schema/rollups.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

const SUMS = [
  "samples",
  "covered_ms",
  ...MEAN_MEASURES.flatMap((name) => [`${name}_ms`, `${name}_ppm_ms`]),
  "power_ms",
  "power_mw_ms",
  "energy_ms",
  "energy_mj",
  ...Object.keys(INCREASE_MEASURES),
];
const MAXIMA = ["last_at", "activity_max_ppm", "process_activity_max_ppm", ...Object.keys(MAX_MEASURES)];

const EXPRESSIONS: Readonly<Record<string, string>> = {
  bucket: "toDateTime(intDiv({start:Int64}, 1000), 'UTC')",
  first_at: "min(r.first_at)",
  clocks_event_reasons: "groupBitOr(r.clocks_event_reasons)",
  xid_codes: "arraySort(groupUniqArrayArray(r.xid_codes))",
  ...Object.fromEntries(DESCRIPTIONS.map((name) => [name, `argMax(r.${name}, r.last_at)`])),
  ...Object.fromEntries(SUMS.map((name) => [name, `sum(r.${name})`])),
  ...Object.fromEntries(MAXIMA.map((name) => [name, `max(r.${name})`])),
};

const OF_RUN = `
  cluster = {cluster:String} AND run_id = toUUID({run:String})
  AND bucket >= toDateTime(intDiv({start:Int64}, 1000), 'UTC')
  AND bucket < toDateTime(intDiv({start:Int64} + ${HOUR_MILLIS}, 1000), 'UTC')`;

const INSERT = `
INSERT INTO gpu_hours (run_id, ${ROLLUP_COLUMNS.join(", ")})
SELECT toUUID({run:String}), ${ROLLUP_COLUMNS.map((name) => EXPRESSIONS[name] ?? `r.${name}`).join(",\n  ")}
FROM (SELECT * FROM gpu_5m WHERE ${OF_RUN}) AS r
GROUP BY ${Object.keys(ROW_KEY)
  .map((name) => `r.${name}`)
  .join(", ")}`;

const DIGEST = `
SELECT count() AS rows, sum(cityHash64(tuple(${ROLLUP_COLUMNS.join(", ")}))) AS hash
FROM gpu_5m WHERE ${OF_RUN}`;

/** A run of a window. */
interface RunOfWindow {
  readonly cluster: string;
  readonly windowStart: number;
  readonly runId: string;
}

/** Inserts the hourly rows of a run from its 5-minute rows: sums and maxima of the same integers. Fails with a `StoreError`. */
export async function insertHours(store: StoreClient, { cluster, windowStart, runId }: RunOfWindow): Promise<void> {
  await store.command(INSERT, { cluster, start: windowStart, run: runId });
}

/**
 * Returns the number of a run's 5-minute rows and a hash of their content, independent of order and of the run's id. Equal rows have equal
 * hashes. The hourly rows follow from them. The hash is a string, because a double cannot hold 64 bits. Fails with a `StoreError`.
 */
export async function digestOfRun(
  store: StoreClient,
  { cluster, windowStart, runId }: RunOfWindow,
): Promise<{ readonly rows: number; readonly hash: string }> {
  const parameters = { cluster, start: windowStart, run: runId };
  const [digest] = await store.query<{ rows: string; hash: string }>(DIGEST, parameters);
  return { rows: Number(digest?.rows ?? 0), hash: digest?.hash ?? "0" };
}
