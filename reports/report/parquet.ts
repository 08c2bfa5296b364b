import type { StoreClient } from "../../runtime/store/client.ts";
import { slicesOf } from "../../runtime/in-turns.ts";
import { arrowOf, parquetOf } from "../format/parquet.ts";
import { columnsOf, flatRows, NUMBER_COLUMNS } from "./flat.ts";
import type { Report } from "./report.ts";

/** The number of rows that the store gets at once. */
const ROWS_AT_ONCE = 2_000;

/**
 * Returns the rows of reports as Parquet: amounts as decimals with nine digits after the point, times in milliseconds. The store makes the
 * columns. Fails with a `StoreError`.
 */
export function reportsParquet(store: StoreClient, reports: readonly [Report, ...Report[]]): AsyncIterable<Uint8Array> {
  return parquetOf(portions(store, reports));
}

async function* portions(
  store: StoreClient,
  reports: readonly [Report, ...Report[]],
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const columns = columnsOf(reports).map((name) => ({ name, type: typeOf(name) }));
  const slices = slicesOf(flatRows(reports), ROWS_AT_ONCE);
  for (const rows of slices.length === 0 ? [[]] : slices) yield arrowOf(store, columns, rows);
}

function typeOf(name: string): string {
  if (name === "lines") return "UInt64";
  if (name === "from" || name === "until") return "DateTime64(3, 'UTC')";
  return NUMBER_COLUMNS.has(name) ? "Nullable(Decimal(38, 9))" : "String";
}
