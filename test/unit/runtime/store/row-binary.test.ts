import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createRowBinaryWriter } from "../../../../runtime/store/row-binary.ts";
import type { RowBinaryWriter } from "../../../../runtime/store/row-binary.ts";

function written(write: (writer: RowBinaryWriter) => void, initialBytes?: number): string {
  const writer = createRowBinaryWriter(initialBytes);
  write(writer);
  return Buffer.from(writer.take()).toString("hex");
}

describe("the RowBinary writer", () => {
  it("writes the bytes that ClickHouse's documentation gives for each type", () => {
    expect(written((w) => w.uint8(255))).toBe("ff");
    expect(written((w) => w.uint16(0x1234))).toBe("3412");
    expect(written((w) => w.uint32(0x12345678))).toBe("78563412");
    expect(written((w) => w.uint64(2n ** 64n - 1n))).toBe("ffffffffffffffff");
    expect(written((w) => w.int8(-1))).toBe("ff");
    expect(written((w) => w.int16(-2))).toBe("feff");
    expect(written((w) => w.int32(-3))).toBe("fdffffff");
    expect(written((w) => w.float32(1))).toBe("0000803f");
    expect(written((w) => w.float64(-2))).toBe("00000000000000c0");
    expect(written((w) => w.bool(true))).toBe("01");
    expect(written((w) => w.dateTimeSeconds(1))).toBe("01000000");
    expect(written((w) => w.dateTime64Millis(-1))).toBe("ffffffffffffffff");
    expect(written((w) => w.decimal64(-15n))).toBe("f1ffffffffffffff");
    expect(written((w) => w.decimal128(1n))).toBe("01000000000000000000000000000000");
    expect(written((w) => w.decimal128(-1n))).toBe("ff".repeat(16));
    expect(written((w) => w.uuid("61f0c404-5cb3-11e7-907b-a6006ad3dba0"))).toBe("e711b35c04c4f061a0dbd36a00a67b90");
    expect(written((w) => w.bytes(new Uint8Array([7, 0, 10])))).toBe("0307000a");
  });

  it.each([2n ** 53n - 2n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, 10n ** 37n])(
    "writes a decimal of %s and its opposite in two's complement, with or without numbers",
    (scaled) => {
      for (const value of [scaled, -scaled]) {
        const digits = BigInt.asUintN(128, value).toString(16).padStart(32, "0");
        expect(written((w) => w.decimal128(value))).toBe(digits.match(/../g)!.toReversed().join(""));
      }
    },
  );

  it("puts a byte before a nullable value and nothing after a null", () => {
    expect(written((w) => w.nullable(5, w.uint8))).toBe("0005");
    expect(written((w) => w.nullable(null, w.uint8))).toBe("01");
    expect(written((w) => w.nullable(undefined, w.uint8))).toBe("01");
  });

  it("repeats what an object was written as, and writes anew what is another, or comes after rows were taken", () => {
    const [one, other] = [{ text: "a" }, { text: "a much longer text than the first buffer has room for" }];
    const writer = createRowBinaryWriter(16);
    const calls: string[] = [];
    const repeating = writer.repeating(({ text }: { readonly text: string }) => {
      calls.push(text);
      writer.string(text);
    });
    for (const value of [one, one, other, other, one]) repeating(value);
    const texts = [one, one, other, other, one].map(({ text }) => String.fromCharCode(text.length) + text);
    expect(Buffer.from(writer.take()).toString()).toBe(texts.join(""));
    repeating(one);
    expect(Buffer.from(writer.take()).toString("hex")).toBe("0161");
    expect(calls).toEqual([one, other, one, one].map(({ text }) => text));
  });

  it("writes arrays and maps as a count and their items", () => {
    expect(written((w) => w.array(["a", "bc"], w.string))).toBe("020161026263");
    expect(written((w) => w.map([["a", 1]], w.uint8))).toBe("01016101");
  });

  it("counts a text in bytes, not in characters, on both sides of the one-byte length", () => {
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

  it("writes every safe integer as a BigInt would be written", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(written((w) => w.int64(value))).toBe(written((w) => w.int64(BigInt(value))));
      }),
    );
  });

  it("grows from a small buffer without changing what was written before", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 300 }), { maxLength: 50 }), (texts) => {
        const write = (w: RowBinaryWriter): void => w.array(texts, w.string);
        expect(written(write, 16)).toBe(written(write, 1_000_000));
      }),
    );
  });

  it("gives its rows away: what is written later does not touch them", () => {
    const writer = createRowBinaryWriter(16);
    writer.uint32(1);
    const first = writer.take();
    expect(writer.length).toBe(0);
    writer.uint32(2);
    expect([...first]).toEqual([1, 0, 0, 0]);
    expect([...writer.take()]).toEqual([2, 0, 0, 0]);
  });

  it("refuses numbers that do not fit their type", () => {
    expect(() => written((w) => w.uint8(256))).toThrow(RangeError);
    expect(() => written((w) => w.int64(2 ** 60))).toThrow(RangeError);
    expect(() => written((w) => w.uint64(-1n))).toThrow(RangeError);
    expect(() => written((w) => w.uuid("GPU-1"))).toThrow(RangeError);
  });
});
