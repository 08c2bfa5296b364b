/**
 * Counts the rows of blocks in ClickHouse's Native format without a schema: a backup writes the blocks that it reads, and records their
 * number of rows.
 */
import { readVarint, skipColumn } from "./widths.ts";

/** Counts the rows of blocks that name no protocol version. Throws a `RangeError` for types without a known length. */
export function countNativeRows(bytes: Buffer): number {
  let counted = 0;
  for (let at = 0; at < bytes.length;) {
    const [columns, afterColumns] = readVarint(bytes, at);
    const [rows, afterRows] = readVarint(bytes, afterColumns);
    counted += rows;
    at = afterRows;
    for (let column = 0; column < columns; column += 1) {
      const [, afterName] = readString(bytes, at);
      const [type, afterType] = readString(bytes, afterName);
      at = skipColumn(type, bytes, afterType, rows);
    }
  }
  return counted;
}

function readString(bytes: Buffer, from: number): readonly [string, number] {
  const [length, start] = readVarint(bytes, from);
  return [bytes.toString("utf8", start, start + length), start + length];
}
