import { uncompressSync } from "snappy";
import { RefusedWrite } from "./refused-write.ts";

/** A copy of 64 bytes needs 3 bytes, so that a block cannot become larger than this (https://github.com/google/snappy/blob/main/format_description.txt). */
const MOST_RATIO = 22;
const LONGEST_VARINT = 5;

/**
 * Returns the content of a block in snappy's block format. The length at the beginning of the block is checked before memory is used. Throws
 * a {@link RefusedWrite}: 413 if the content is larger than `mostBytes`, 400 if the block is damaged.
 */
export function uncompressBlock(block: Buffer, mostBytes: number): Buffer {
  const length = lengthOf(block);
  if (length > mostBytes)
    throw new RefusedWrite(413, `the body has ${length} bytes uncompressed; at most ${mostBytes} are accepted`);
  if (length > block.length * MOST_RATIO)
    throw new RefusedWrite(400, "the body is not a snappy block: its length is impossible");
  try {
    // Copied, because memory outside of the heap would need a finalizer for each request.
    return uncompressSync(block, { asBuffer: true, copyOutputData: true }) as Buffer;
  } catch (cause) {
    throw new RefusedWrite(400, "the body is not a snappy block", { cause });
  }
}

/** Reads the length of the content: a varint of 32 bits. */
function lengthOf(block: Buffer): number {
  let length = 0;
  for (let index = 0; index < LONGEST_VARINT && index < block.length; index++) {
    const byte = block[index]!;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return length;
  }
  throw new RefusedWrite(400, "the body is not a snappy block: it has no length");
}
