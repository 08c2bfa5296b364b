/** The position of a message. Partitions of one topic are adjacent, and offsets are in order. */
export interface Position {
  readonly topicId: number;
  readonly partition: number;
  readonly offset: number;
}

/** Returns a position as an LMDB key: 16 bytes, big-endian, so that the order of the bytes is the order of the offsets. */
export function messageKey(position: Position): Buffer {
  const key = Buffer.allocUnsafe(16);
  key.writeUInt32BE(position.topicId, 0);
  key.writeUInt32BE(position.partition, 4);
  key.writeBigUInt64BE(BigInt(position.offset), 8);
  return key;
}

/** Returns the offset of a {@link messageKey}. */
export function offsetOfKey(key: Uint8Array): number {
  return Number(new DataView(key.buffer, key.byteOffset, key.byteLength).getBigUint64(8));
}

/** The data of a message that retention and compaction need without reading it: its record time and its size. */
export interface Stamp {
  readonly sentAtMillis: number;
  readonly bytes: number;
}

/** Encodes a stamp in 12 bytes. */
export function encodeStamp(stamp: Stamp): Buffer {
  const bytes = Buffer.allocUnsafe(12);
  bytes.writeDoubleBE(stamp.sentAtMillis, 0);
  bytes.writeUInt32BE(stamp.bytes, 8);
  return bytes;
}

/** Decodes the bytes of {@link encodeStamp}. */
export function decodeStamp(bytes: Buffer): Stamp {
  return { sentAtMillis: bytes.readDoubleBE(0), bytes: bytes.readUInt32BE(8) };
}
