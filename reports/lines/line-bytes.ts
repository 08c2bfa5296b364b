import type { StoreClient } from "../../runtime/store/client.ts";
import type { LineFormat } from "../format/names.ts";
import { ARROW_SETTINGS, parquetOf } from "../format/parquet.ts";
import { plainColumns, readPortions, TYPED_COLUMNS, type LinesFormat, type LinesPlan } from "./portions.ts";

/**
 * Returns the lines of a plan as a file, part by part. Only one portion is in memory at a time. Amounts are exact: digits in CSV, texts in
 * NDJSON, decimals in Parquet. Fails with a `StoreError` or a `LinesReplacedError`.
 */
export function lineBytes(store: StoreClient, plan: LinesPlan, format: LineFormat): AsyncIterable<Uint8Array> {
  switch (format) {
    case "csv":
      return text(store, plan, CSV);
    case "ndjson":
      return text(store, plan, NDJSON);
    case "parquet":
      return parquetOf(readPortions(store, plan, ARROW));
  }
}

const CSV: LinesFormat = {
  columns: plainColumns(true),
  format: (isFirst) => (isFirst ? "CSVWithNames" : "CSV"),
  settings: { format_csv_null_representation: "", output_format_csv_crlf_end_of_line: 1 },
};
const NDJSON: LinesFormat = { columns: plainColumns(false), format: () => "JSONEachRow" };
const ARROW: LinesFormat = {
  columns: TYPED_COLUMNS,
  format: () => "ArrowStream",
  settings: ARROW_SETTINGS,
};

async function* text(store: StoreClient, plan: LinesPlan, format: LinesFormat): AsyncGenerator<Uint8Array> {
  for await (const portion of readPortions(store, plan, format)) yield* portion;
}
