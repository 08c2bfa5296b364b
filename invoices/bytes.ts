import { createHash, type Hash } from "node:crypto";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

/** A chunk of a file that was decompressed: larger than zlib's 16 KiB, because each chunk costs a turn of the event loop. */
const CHUNK_BYTES = 1024 * 1024;

/** The bytes of a file while it is read. */
export interface CountedBytes {
  /** Of the file as it is stored: compressed, if it is. */
  bytes: number;
  readonly hash: Hash;
}

/** Returns a counter for {@link plainBytes}. */
export function createCounter(): CountedBytes {
  return { bytes: 0, hash: createHash("sha256") };
}

/** True if a file begins as gzip does. */
export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

/** True if a file begins as Parquet does. */
export function isParquet(start: Uint8Array): boolean {
  return Buffer.from(start.subarray(0, 4)).toString("latin1") === "PAR1";
}

/**
 * Returns the bytes of a file without its compression, and counts and hashes the stored bytes. A gzip file can have several members, one
 * after the other. Fails as the stream does, and for broken gzip.
 */
export async function* plainBytes(
  stored: Readable,
  counter: CountedBytes,
  isCompressed: boolean,
): AsyncGenerator<Buffer> {
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      counter.bytes += chunk.length;
      counter.hash.update(chunk);
      done(null, chunk);
    },
  });
  const plain = isCompressed ? createGunzip({ chunkSize: CHUNK_BYTES }) : count;
  const flow = isCompressed ? pipeline(stored, count, plain) : pipeline(stored, count);
  let failure: { readonly cause: unknown } | undefined;
  const done = flow.catch((cause: unknown) => void (failure = { cause }));
  try {
    for await (const chunk of plain) yield chunk as Buffer;
  } finally {
    stored.destroy();
    await done;
  }
  if (failure !== undefined) throw failure.cause;
}
