import type { OutgoingMessage, ReceivedMessage } from "./bus.ts";
import { openHeaders, sealHeaders } from "./envelope.ts";

/**
 * The format of a message on disk, in the embedded log and in the spool: one byte of format, one of flags, the record time (float64), the
 * lengths of key and headers (uint32 each), then key, headers as JSON, and the value to the end. All numbers are big-endian. A reader
 * supports every released format.
 */
const FORMAT = 1;
const TOMBSTONE = 1;
const FIXED_BYTES = 18;

/** Encodes a message in the disk format, with its checksum and schema version. */
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

/** Decodes a record. The value is a copy and belongs to the receiver. Throws if the format is newer than this release. */
export function decodeRecord(record: Buffer, topic: string, partition: number, offset: number): ReceivedMessage {
  if (record.readUInt8(0) !== FORMAT) {
    throw new Error(
      `The record ${topic}/${partition}@${offset} has format ${record.readUInt8(0)}; this release reads format ${FORMAT}.`,
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
 * Returns the bytes that a record takes in the folder. LMDB puts a value of more than half a page on separate pages (4 kB each, with a
 * header of 16 bytes), and smaller values share a page. The keys and the stamp are added.
 */
export function footprintBytes(recordBytes: number): number {
  const own = recordBytes > 2000 ? Math.ceil((recordBytes + 16) / 4096) * 4096 : Math.ceil(recordBytes * 1.25);
  return own + 128;
}
