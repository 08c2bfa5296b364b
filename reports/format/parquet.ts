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

/** The settings with which ClickHouse returns Arrow, so that the tables of {@link parquetOf} can be read. */
export const ARROW_SETTINGS = {
  output_format_arrow_string_as_string: 1,
  output_format_arrow_compression_method: "none",
  // The maximum of rows in a batch. One batch at a time is in memory.
  max_block_size: 2_048,
} as const;

/** A column of {@link arrowOf}, with its type in ClickHouse. */
export interface ArrowColumn {
  readonly name: string;
  readonly type: string;
}

/**
 * Returns a portion for {@link parquetOf} from rows of this process. The store makes columns of their values, which are texts or null.
 * Fails with a `StoreError`.
 */
export function arrowOf(
  store: StoreClient,
  columns: readonly ArrowColumn[],
  rows: readonly Readonly<Record<string, string | null>>[],
): AsyncIterable<Uint8Array> {
  const types = columns.map(({ name, type }) => `${sqlIdentifier(name)} ${type}`).join(", ");
  // Without a row, the store finds no columns in the text.
  const text = rows.length === 0 ? "{}" : rows.map((row) => JSON.stringify(row)).join("\n");
  const select = `SELECT * FROM format(JSONEachRow, ${sqlString(types)}, {rows:String}) LIMIT ${rows.length}`;
  return store.bytes(select, { rows: text }, "ArrowStream", ARROW_SETTINGS);
}

/** The maximum of rows in a row group of a Parquet file. They are in memory until the group is written. */
const ROWS_IN_GROUP = 25_000;

/**
 * Returns a Parquet file of portions in Arrow's streaming format, all with the same columns. Only the first portion can be empty, for a
 * file without rows. A batch at a time is in memory, and the current row group. Throws a `TypeError` without a portion and for a portion
 * that is no Arrow stream.
 */
export async function* parquetOf(portions: AsyncIterable<AsyncIterable<Uint8Array>>): AsyncGenerator<Uint8Array> {
  const properties = new WriterPropertiesBuilder()
    .setCompression(Compression.ZSTD)
    .setMaxRowGroupSize(ROWS_IN_GROUP)
    .build();
  const tables = tablesOf(portions);
  const { value: first } = await tables.next();
  if (first === undefined) throw new TypeError("a file needs at least one portion");
  if (first.numBatches === 0) {
    // A stream without a batch has no known columns.
    for await (const _ of tables) void _;
    yield writeParquet(first, properties);
    return;
  }
  // The two types differ, but they are equal at run time.
  const batches = NodeStream.from(batchesOf(first, tables)) as unknown as ReadableStream;
  yield* (await transformParquetStream(batches, properties)) as ReadableStream<Uint8Array>;
}

async function* batchesOf(first: Table, others: AsyncIterable<Table>): AsyncGenerator<RecordBatch> {
  yield* batchesIn(first);
  for await (const table of others) yield* batchesIn(table);
}

/**
 * Returns the batches of a table. They share the table's memory outside of JavaScript. It is freed with them and does not wait for the
 * garbage collector.
 */
function batchesIn(table: Table): readonly RecordBatch[] {
  const batches = table.recordBatches();
  table.free();
  return batches;
}

/** Returns a table of each batch. For a portion without batches, returns an empty table with its columns. */
async function* tablesOf(portions: AsyncIterable<AsyncIterable<Uint8Array>>): AsyncGenerator<Table, undefined> {
  for await (const portion of portions) {
    let schema: Buffer | undefined;
    let count = 0;
    for await (const message of messagesOf(portion)) {
      if (schema === undefined) {
        schema = message;
        continue;
      }
      count += 1;
      yield Table.fromIPCStream(Buffer.concat([schema, message, END_OF_STREAM]));
    }
    if (count === 0) yield Table.fromIPCStream(Buffer.concat([schema ?? Buffer.alloc(0), END_OF_STREAM]));
  }
}

const CONTINUATION = 0xff_ff_ff_ff;
const HEAD_BYTES = 8;
const END_OF_STREAM = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/**
 * Returns the messages of a stream in Arrow's format, the schema first, without the end. A message is a mark, the length of the metadata,
 * the metadata, and the body (https://arrow.apache.org/docs/format/Columnar.html, "Encapsulated message format").
 */
async function* messagesOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  const waiting: Uint8Array[] = [];
  let arrived = 0;
  let wanted = HEAD_BYTES;
  for await (const part of parts) {
    waiting.push(part);
    arrived += part.length;
    while (arrived >= wanted) {
      held = Buffer.concat([held, ...waiting.splice(0)]);
      arrived = held.length;
      const length = lengthOfMessage(held);
      if (length === 0) return;
      if (length > arrived) {
        wanted = length;
        break;
      }
      yield held.subarray(0, length);
      held = held.subarray(length);
      arrived = held.length;
      wanted = HEAD_BYTES;
    }
  }
}

/** Returns the number of bytes of a message, or the number that is needed to compute it; 0 at the end of the stream. */
function lengthOfMessage(message: Buffer): number {
  if (message.length < HEAD_BYTES) return HEAD_BYTES;
  if (message.readUInt32LE(0) !== CONTINUATION) throw new TypeError("the store's answer is not an Arrow stream");
  const described = message.readInt32LE(4);
  if (described === 0) return 0;
  const body = HEAD_BYTES + described;
  return message.length < body ? body : body + bodyLength(message.subarray(HEAD_BYTES, body));
}

/** Returns `bodyLength`, the fourth field of the table `Message` (Message.fbs). In a FlatBuffer its offset is the fourth of the vtable. */
function bodyLength(message: Buffer): number {
  const table = message.readUInt32LE(0);
  const vtable = table - message.readInt32LE(table);
  const FIELD = 4 + 2 * 3;
  const offset = message.readUInt16LE(vtable) > FIELD ? message.readUInt16LE(vtable + FIELD) : 0;
  return offset === 0 ? 0 : Number(message.readBigInt64LE(table + offset));
}
