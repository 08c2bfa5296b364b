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
