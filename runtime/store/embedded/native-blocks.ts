/**
 * Native blocks for clients that name a protocol version, as clickhouse-go and so Grafana do over HTTP.
 *
 * A server writes each block for that version: with block info in front, and, since revision 54454, with a byte for
 * each column that says whether its serialization is a special one (src/Formats/NativeWriter.cpp). chDB knows no
 * version and writes neither, so both are put in here.
 */
import { readVarint, skipColumn } from "./native-types.ts";

/** `DBMS_MIN_REVISION_WITH_CUSTOM_SERIALIZATION` of ClickHouse. */
const customSerializationRevision = 54_454;
/** Fields 1 (`is_overflows` = 0) and 2 (`bucket_num` = -1), and the end. */
const blockInfo = Buffer.from([1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0]);
const ordinarySerialization = Buffer.from([0]);

/** The blocks as a client of this protocol version reads them. Fails with 48 for types that cannot be measured. */
export function frameNativeBlocks(bytes: Buffer, protocolVersion: number): Buffer {
  if (protocolVersion <= 0) return bytes;
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    parts.push(blockInfo);
    const start = at;
    const [columns, afterColumns] = readVarint(bytes, at);
    const [rows, afterRows] = readVarint(bytes, afterColumns);
    at = afterRows;
    parts.push(bytes.subarray(start, at));
    for (let column = 0; column < columns; column += 1) {
      const headStart = at;
      const [, afterName] = readString(bytes, at);
      const [type, afterType] = readString(bytes, afterName);
      parts.push(bytes.subarray(headStart, afterType));
      if (protocolVersion >= customSerializationRevision) parts.push(ordinarySerialization);
      at = skipColumn(type, bytes, afterType, rows);
      parts.push(bytes.subarray(afterType, at));
    }
  }
  return Buffer.concat(parts);
}

function readString(bytes: Buffer, from: number): readonly [string, number] {
  const [length, start] = readVarint(bytes, from);
  return [bytes.toString("utf8", start, start + length), start + length];
}

/** How many rows blocks have that were written without a protocol version. Fails with 48 for types that cannot be measured. */
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
