/**
 * Blocks in ClickHouse's Native format: whole columns one after the other, each with its name and type, which the store takes at a fraction of
 * what rows cost it. Numbers are little-endian, as they are in memory here.
 * https://clickhouse.com/docs/interfaces/formats/Native
 */
import type { ByteWriter } from "./byte-writer.ts";

/** A column of a block. Rows that nothing was written to have the default of its type. */
export interface NativeColumn {
  readonly name: string;
  readonly type: string;
  /** Whether anything was written to it. */
  readonly isWritten: boolean;
  /** Makes room for so many rows. */
  readonly grow: (rows: number) => void;
  /** Writes so many rows out, and begins anew. */
  readonly take: (out: ByteWriter, rows: number) => void;
}

/** Takes so many rows of columns as one block. */
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
