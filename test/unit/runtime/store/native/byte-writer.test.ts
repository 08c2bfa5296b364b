import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createByteWriter, type ByteWriter } from "../../../../../runtime/store/native/byte-writer.ts";

function written(write: (writer: ByteWriter) => void, initialBytes?: number): string {
  const writer = createByteWriter(initialBytes);
  write(writer);
  return Buffer.from(writer.take()).toString("hex");
}

describe("the writer of bytes", () => {
  it("writes the bytes of ClickHouse's documentation for each type", () => {
    expect(written((w) => w.uint32(0x12345678))).toBe("78563412");
    expect(written((w) => w.uint64(2n ** 64n - 1n))).toBe("ffffffffffffffff");
    expect(written((w) => w.uint64(1))).toBe("0100000000000000");
    expect(written((w) => w.float64(-2))).toBe("00000000000000c0");
    expect(written((w) => w.varint(300))).toBe("ac02");
    expect(written((w) => w.raw(new Uint8Array([7, 0, 10])))).toBe("07000a");
  });

  it("counts a text in bytes instead of characters, on both sides of the one-byte length", () => {
    for (const length of [0, 1, 41, 42, 43, 127, 128, 5_000]) {
      const text = "é".repeat(length);
      const bytes = Buffer.from(
        written((w) => w.string(text)),
        "hex",
      );
      const lengthBytes = length * 2 < 128 ? 1 : 2;
      expect(bytes.subarray(lengthBytes).toString("utf8")).toBe(text);
      const size = lengthBytes === 1 ? (bytes[0] ?? 0) : ((bytes[0] ?? 0) & 0x7f) + (bytes[1] ?? 0) * 128;
      expect(size).toBe(length * 2);
    }
  });

  it("grows from a small buffer without changing earlier bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 300 }), { maxLength: 50 }), (texts) => {
        const write = (w: ByteWriter): void => texts.forEach((text) => w.string(text));
        expect(written(write, 16)).toBe(written(write, 1_000_000));
      }),
    );
  });

  it("hands over its bytes: later writes do not change them", () => {
    const writer = createByteWriter(16);
    writer.uint32(1);
    const first = writer.take();
    writer.uint32(2);
    expect([...first]).toEqual([1, 0, 0, 0]);
    expect([...writer.take()]).toEqual([2, 0, 0, 0]);
  });

  it("refuses numbers that do not fit their type", () => {
    expect(() => written((w) => w.uint32(2 ** 32))).toThrow(RangeError);
    expect(() => written((w) => w.uint64(-1n))).toThrow(RangeError);
    expect(() => written((w) => w.varint(-1))).toThrow(RangeError);
  });
});
