/**
 * Blocks in ClickHouse's Native format: whole columns one after the other, each with its name and type. The store reads them at a fraction
 * of the cost of rows. Numbers are little-endian, as in memory here.
 * https://clickhouse.com/docs/interfaces/formats/Native
 */
import type { ByteWriter } from "./byte-writer.ts";

/** A column of a block. Rows that were not written have the default of the type. */
export interface NativeColumn {
  readonly name: string;
  readonly type: string;
  /** True if any row was written. */
  readonly isWritten: boolean;
  /** Makes room for `rows` rows. */
  readonly grow: (rows: number) => void;
  /** Writes `rows` rows to `out`, and resets the column. */
  readonly take: (out: ByteWriter, rows: number) => void;
}

/** Takes `rows` rows of columns as one block. */
export function takeBlock(out: ByteWriter, columns: readonly NativeColumn[], rows: number): Uint8Array<ArrayBuffer> {
  out.varint(columns.length);
  out.varint(rows);
  for (const { name, type, take } of columns) {
    out.string(name);
    out.string(type);
    take(out, rows);
  }
  return out.take();
}
