import { createByteWriter, type ByteWriter } from "../../runtime/store/native/byte-writer.ts";

/** A writer of ClickHouse's binary formats, value by value, for tests that read them. */
export interface Wire extends Pick<ByteWriter, "string"> {
  /** A whole number of some bytes, little-endian, in two's complement. */
  whole(bytes: number, value: number | bigint): void;
  /** A length with 7 bits per byte. */
  length(value: number): void;
}

/** The bytes that `write` writes. */
export function wireBytes(write: (wire: Wire) => void): Uint8Array {
  const writer = createByteWriter();
  write({
    string: writer.string,
    length: writer.varint,
    whole(bytes, value) {
      const all = BigInt.asUintN(8 * bytes, BigInt(value));
      writer.raw(Uint8Array.from({ length: bytes }, (_, place) => Number((all >> BigInt(8 * place)) & 0xffn)));
    },
  });
  return writer.take();
}
