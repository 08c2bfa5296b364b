import { sqlIdentifier, sqlString } from "../../runtime/store/sql-tokens.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { slicesOf } from "../../runtime/in-turns.ts";
import { ARROW_SETTINGS, parquetOf } from "../format/parquet.ts";
import { columnsOf, flatRows, NUMBER_COLUMNS } from "./flat.ts";
import type { Report } from "./report.ts";

/** So many rows are given to the store at once. */
const ROWS_AT_ONCE = 2_000;

/**
 * The rows of reports as Parquet: amounts as decimals of nine digits after the point, times in milliseconds. The store makes columns of
 * them. Fails with a `StoreError`.
 */
export function reportsParquet(store: StoreClient, reports: readonly [Report, ...Report[]]): AsyncIterable<Uint8Array> {
  return parquetOf(portions(store, reports));
}

async function* portions(
  store: StoreClient,
  reports: readonly [Report, ...Report[]],
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const types = columnsOf(reports).map((name) => `${sqlIdentifier(name)} ${typeOf(name)}`);
  const slices = slicesOf(flatRows(reports), ROWS_AT_ONCE);
  for (const rows of slices.length === 0 ? [[]] : slices) {
    // A text without any row has no columns for the store.
    const text = rows.length === 0 ? "{}" : rows.map((row) => JSON.stringify(row)).join("\n");
    const select = `SELECT * FROM format(JSONEachRow, ${sqlString(types.join(", "))}, {rows:String}) LIMIT ${rows.length}`;
    yield store.bytes(select, { rows: text }, "ArrowStream", ARROW_SETTINGS);
  }
}

function typeOf(name: string): string {
  if (name === "lines") return "UInt64";
  if (name === "from" || name === "until") return "DateTime64(3, 'UTC')";
  return NUMBER_COLUMNS.has(name) ? "Nullable(Decimal(38, 9))" : "String";
}
