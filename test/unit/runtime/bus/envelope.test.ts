import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checksumOf, openHeaders, sealHeaders } from "../../../../runtime/bus/envelope.ts";

const bytes = (text: string) => Buffer.from(text);

describe("the envelope", () => {
  it("has the checksum of the CRC catalog's check value", () => {
    expect(checksumOf(bytes("123456789"))).toBe("cbf43926");
  });

  it("returns version, headers and an intact value", () => {
    const headers = sealHeaders({ key: "k", value: bytes("v"), schemaVersion: 7, headers: { traceparent: "00-1" } });
    expect(openHeaders(headers, bytes("v"))).toEqual({
      schemaVersion: 7,
      intact: true,
      headers: { traceparent: "00-1" },
    });
  });

  it("finds any single flipped bit", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), (value, at) => {
        const headers = sealHeaders({ key: "k", value, schemaVersion: 1 });
        const broken = Uint8Array.from(value);
        const index = at % broken.length;
        broken[index] = (broken[index] ?? 0) ^ (1 << (at % 8));
        expect(openHeaders(headers, broken).intact).toBe(false);
      }),
    );
  });

  it("counts a tombstone as intact, but not if a value was put in its place", () => {
    const headers = sealHeaders({ key: "k", value: null, schemaVersion: 1 });
    expect(openHeaders(headers, null).intact).toBe(true);
    expect(openHeaders(headers, bytes("v")).intact).toBe(false);
  });

  it("does not let a message's own headers replace the checksum or the version", () => {
    const headers = sealHeaders({
      key: "k",
      value: bytes("v"),
      schemaVersion: 2,
      headers: { crc32: "0", schema: "9" },
    });
    expect(openHeaders(headers, bytes("v"))).toEqual({ schemaVersion: 2, intact: true, headers: {} });
  });

  it.each([[{}], [{ schema: "two", crc32: "?" }], [{ schema: "-1" }], [{ schema: "1.5" }]])(
    "reads %j as version 0 and not intact",
    (headers: Record<string, string>) => {
      expect(openHeaders(headers, bytes("v"))).toMatchObject({ schemaVersion: 0, intact: false });
    },
  );
});
