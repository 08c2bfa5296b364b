import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { Run } from "./runs.ts";

/** The number of rows of a run, and the hash of their content as a decimal string, because a double cannot hold 64 bits. */
export interface Digest {
  readonly rows: number;
  readonly hash: string;
}

/**
 * Returns a function that reads what a run has in a table with the given columns. `time` is the column with a time within the run's window.
 * The hash is independent of the rows' order and of the run's id: equal rows have equal hashes. Fails with a `StoreError`.
 */
export function digestOf(
  table: string,
  columns: readonly string[],
  time: string,
): (store: StoreClient, run: Run) => Promise<Digest> {
  const sql = `
    SELECT run_id AS run, count() AS rows, toString(sum(cityHash64(tuple(${columns.join(", ")})))) AS hash
    FROM ${table}
    WHERE cluster = {cluster:String} AND run_id IN {runs:Array(UUID)}
      AND ${time} >= fromUnixTimestamp64Milli({from:Int64}) AND ${time} < fromUnixTimestamp64Milli({until:Int64})
    GROUP BY run_id`;
  const readAll = async (store: StoreClient, runs: readonly Run[]): Promise<readonly Digest[]> => {
    const starts = runs.map(({ windowStart }) => windowStart);
    const rows = await store.query<{ run: string; rows: string; hash: string }>(sql, {
      cluster: runs[0]!.cluster,
      runs: runs.map(({ runId }) => runId),
      from: Math.min(...starts),
      until: Math.max(...starts) + HOUR_MILLIS,
    });
    const found = new Map(rows.map(({ run, hash, rows: count }) => [run, { rows: Number(count), hash }]));
    return runs.map(({ runId }) => found.get(runId) ?? { rows: 0, hash: "0" });
  };
  return (store, run) => together(store, readAll, run);
}
