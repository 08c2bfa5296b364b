import type { StoreClient } from "../../../runtime/store/client.ts";
import {
  DESCRIPTIONS,
  INCREASE_MEASURES,
  MAX_MEASURES,
  MEAN_MEASURES,
  ROLLUP_COLUMNS,
  ROW_KEY,
} from "../../../runtime/store/schema/rollups.ts";
import type { Run } from "../runs/runs.ts";
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
  bucket: "toStartOfHour(min(r.bucket))",
  first_at: "min(r.first_at)",
  clocks_event_reasons: "groupBitOr(r.clocks_event_reasons)",
  xid_codes: "arraySort(groupUniqArrayArray(r.xid_codes))",
  ...Object.fromEntries(DESCRIPTIONS.map((name) => [name, `argMax(r.${name}, r.last_at)`])),
  ...Object.fromEntries(SUMS.map((name) => [name, `sum(r.${name})`])),
  ...Object.fromEntries(MAXIMA.map((name) => [name, `max(r.${name})`])),
};

const INSERT = `
INSERT INTO gpu_hours (run_id, ${ROLLUP_COLUMNS.join(", ")})
SELECT r.run_id, ${ROLLUP_COLUMNS.map((name) => EXPRESSIONS[name] ?? `r.${name}`).join(",\n  ")}
FROM (
  SELECT * FROM gpu_5m
  WHERE cluster = {cluster:String} AND run_id IN {runs:Array(UUID)}
    AND bucket >= toDateTime(intDiv({from:Int64}, 1000), 'UTC') AND bucket < toDateTime(intDiv({until:Int64}, 1000), 'UTC')
) AS r
GROUP BY r.run_id, ${Object.keys(ROW_KEY)
  .map((name) => `r.${name}`)
  .join(", ")}`;

/** Inserts the hourly rows of runs from their 5-minute rows: sums and maxima of the same integers. Fails with a `StoreError`. */
export async function insertHours(store: StoreClient, runs: readonly Run[]): Promise<readonly void[]> {
  const starts = runs.map(({ windowStart }) => windowStart);
  await store.command(INSERT, {
    cluster: runs[0]!.cluster,
    runs: runs.map(({ runId }) => runId),
    from: Math.min(...starts),
    until: Math.max(...starts) + HOUR_MILLIS,
  });
  return runs.map(() => {});
}
