import { ReadableStream as NodeStream } from "node:stream/web";
import {
  Compression,
  Table,
  transformParquetStream,
  writeParquet,
  WriterPropertiesBuilder,
  type RecordBatch,
} from "parquet-wasm";
import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlIdentifier, sqlString } from "../../runtime/store/sql-tokens.ts";

/** How Arrow is asked of ClickHouse, so that the tables of {@link parquetOf} can be read. */
export const ARROW_SETTINGS = {
  output_format_arrow_string_as_string: 1,
  output_format_arrow_compression_method: "none",
} as const;

/** A column of {@link arrowOf}, with its type in ClickHouse. */
export interface ArrowColumn {
  readonly name: string;
  readonly type: string;
}

/**
 * A portion for {@link parquetOf} of rows that are here: the store makes columns of their values, which are texts or null. Fails with a
 * `StoreError`.
 */
export function arrowOf(
  store: StoreClient,
  columns: readonly ArrowColumn[],
  rows: readonly Readonly<Record<string, string | null>>[],
): AsyncIterable<Uint8Array> {
  const types = columns.map(({ name, type }) => `${sqlIdentifier(name)} ${type}`).join(", ");
  // A text without any row has no columns for the store.
  const text = rows.length === 0 ? "{}" : rows.map((row) => JSON.stringify(row)).join("\n");
  const select = `SELECT * FROM format(JSONEachRow, ${sqlString(types)}, {rows:String}) LIMIT ${rows.length}`;
  return store.bytes(select, { rows: text }, "ArrowStream", ARROW_SETTINGS);
}

/** A group of rows of a Parquet file has so many at most: as many are held until it is written. */
const ROWS_IN_GROUP = 50_000;

/**
 * A Parquet file of portions in Arrow's streaming format, all of the same columns; only the first one can be without rows, where the
 * file is to have none. A portion at a time is in memory.
 */
export async function* parquetOf(portions: AsyncIterable<AsyncIterable<Uint8Array>>): AsyncGenerator<Uint8Array> {
  const properties = new WriterPropertiesBuilder()
    .setCompression(Compression.ZSTD)
    .setMaxRowGroupSize(ROWS_IN_GROUP)
    .build();
  const tables = tablesOf(portions);
  const { value: first } = await tables.next();
  if (first === undefined) throw new TypeError("a file is made of one portion at least");
  if (first.numBatches === 0) {
    // Of a stream without a batch nobody knows the columns.
    for await (const _ of tables) void _;
    yield writeParquet(first, properties);
    return;
  }
  // The two are one at run time; their types differ.
  const batches = NodeStream.from(batchesOf(first, tables)) as unknown as ReadableStream;
  yield* (await transformParquetStream(batches, properties)) as ReadableStream<Uint8Array>;
}

async function* batchesOf(first: Table, others: AsyncIterable<Table>): AsyncGenerator<RecordBatch> {
  yield* batchesIn(first);
  for await (const table of others) yield* batchesIn(table);
}

/** The batches share the table's memory, which is not JavaScript's: it goes with them, and does not wait for the collector. */
function batchesIn(table: Table): readonly RecordBatch[] {
  const batches = table.recordBatches();
  table.free();
  return batches;
}

async function* tablesOf(portions: AsyncIterable<AsyncIterable<Uint8Array>>): AsyncGenerator<Table, undefined> {
  for await (const portion of portions) {
    const parts: Uint8Array[] = [];
    for await (const part of portion) parts.push(part);
    yield Table.fromIPCStream(Buffer.concat(parts));
  }
}
