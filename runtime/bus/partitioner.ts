/**
 * Returns MurmurHash2, 32 bits, with the seed of Kafka's Java client (`Utils.murmur2` in apache/kafka,
 * clients/src/main/java/org/apache/kafka/common/utils/Utils.java), as a signed 32-bit integer.
 */
export function murmur2(bytes: Uint8Array): number {
  const multiplier = 0x5bd1e995;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.byteLength;
  const tail = length & ~3;
  let hash = 0x9747b28c ^ length;
  for (let at = 0; at < tail; at += 4) {
    let word = Math.imul(view.getInt32(at, true), multiplier);
    word = Math.imul(word ^ (word >>> 24), multiplier);
    hash = Math.imul(hash, multiplier) ^ word;
  }
  const rest = length & 3;
  if (rest > 0) {
    for (let at = rest - 1; at >= 0; at -= 1) hash ^= view.getUint8(tail + at) << (8 * at);
    hash = Math.imul(hash, multiplier);
  }
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}

/**
 * Returns the partition of a key: the one that Kafka's Java client chooses for a keyed record (`toPositive(murmur2(key)) % partitions`,
 * BuiltInPartitioner.partitionForKey). Both bus implementations use it, so a key has the same partition in both, and other producers find
 * it too. The key is hashed as UTF-8.
 */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key, "utf8")) & 0x7fffffff) % partitions;
}
