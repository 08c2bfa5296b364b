import type { OutgoingMessage, ReceivedMessage } from "../bus.ts";
import { openHeaders, sealHeaders } from "../envelope.ts";

/**
 * How a message lies in the log: one byte of format, one of flags, the record time (float64), the lengths of key and
 * headers (uint32 each), then key, headers as JSON, and the value to the end. All numbers are big-endian. A reader
 * knows every format that was ever released.
 */
const FORMAT = 1;
const TOMBSTONE = 1;
const FIXED_BYTES = 18;

/** Where a message lies: partitions of one topic are neighbours, and offsets are in order. */
export interface Place {
  readonly topicId: number;
  readonly partition: number;
  readonly offset: number;
}

/** A place as a key of LMDB, 16 bytes, big-endian, so that the order of the bytes is the order of the offsets. */
export function placeKey(place: Place): Buffer {
  const key = Buffer.allocUnsafe(16);
  key.writeUInt32BE(place.topicId, 0);
  key.writeUInt32BE(place.partition, 4);
  key.writeBigUInt64BE(BigInt(place.offset), 8);
  return key;
}

/** The offset of a {@link placeKey}. */
export function offsetOfKey(key: Uint8Array): number {
  return Number(new DataView(key.buffer, key.byteOffset, key.byteLength).getBigUint64(8));
}

/** A message in the log's format, its checksum and schema version included. */
export function encodeRecord(message: OutgoingMessage, sentAtMillis: number): Buffer {
  const key = Buffer.from(message.key, "utf8");
  const headers = Buffer.from(JSON.stringify(sealHeaders(message)), "utf8");
  const fixed = Buffer.allocUnsafe(FIXED_BYTES);
  fixed.writeUInt8(FORMAT, 0);
  fixed.writeUInt8(message.value === null ? TOMBSTONE : 0, 1);
  fixed.writeDoubleBE(sentAtMillis, 2);
  fixed.writeUInt32BE(key.length, 10);
  fixed.writeUInt32BE(headers.length, 14);
  return Buffer.concat(message.value === null ? [fixed, key, headers] : [fixed, key, headers, message.value]);
}

/** Reads a record back. The value is a copy and belongs to the receiver. Throws where the format is from the future. */
export function decodeRecord(record: Buffer, topic: string, partition: number, offset: number): ReceivedMessage {
  if (record.readUInt8(0) !== FORMAT) {
    throw new Error(
      `The record ${topic}/${partition}@${offset} has format ${record.readUInt8(0)}; ${FORMAT} is known.`,
    );
  }
  const headersAt = FIXED_BYTES + record.readUInt32BE(10);
  const valueAt = headersAt + record.readUInt32BE(14);
  const tombstone = (record.readUInt8(1) & TOMBSTONE) !== 0;
  const value = tombstone ? null : Uint8Array.prototype.slice.call(record, valueAt);
  const headers = JSON.parse(record.toString("utf8", headersAt, valueAt)) as Record<string, string>;
  return {
    topic,
    partition,
    offset,
    key: record.toString("utf8", FIXED_BYTES, headersAt),
    value,
    ...openHeaders(headers, value),
    sentAtMillis: record.readDoubleBE(2),
  };
}

/**
 * Bytes that a record takes in the folder. LMDB puts a value of more than half a page on pages of its own (4 kB each,
 * with a header of 16 bytes) and shares a page among smaller ones; the keys and the stamp come on top.
 */
export function footprintBytes(recordBytes: number): number {
  const own = recordBytes > 2000 ? Math.ceil((recordBytes + 16) / 4096) * 4096 : Math.ceil(recordBytes * 1.25);
  return own + 128;
}

/** What retention and compaction need of a message without reading it: its record time and its footprint. */
export interface Stamp {
  readonly sentAtMillis: number;
  readonly bytes: number;
}

/** A stamp in 12 bytes. */
export function encodeStamp(stamp: Stamp): Buffer {
  const bytes = Buffer.allocUnsafe(12);
  bytes.writeDoubleBE(stamp.sentAtMillis, 0);
  bytes.writeUInt32BE(stamp.bytes, 8);
  return bytes;
}

/** Reads {@link encodeStamp} back. */
export function decodeStamp(bytes: Buffer): Stamp {
  return { sentAtMillis: bytes.readDoubleBE(0), bytes: bytes.readUInt32BE(8) };
}
