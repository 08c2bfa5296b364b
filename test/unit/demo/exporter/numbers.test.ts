import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shortFloat, writeNumber } from "../../../../demo/exporter/numbers.ts";
import type { Series } from "../../../../demo/exporter/row.ts";

function written(value: number, format: Series["format"]): string {
  const buffer = Buffer.alloc(64);
  return buffer.toString("latin1", 0, writeNumber(buffer, 0, value, format));
}

describe("numbers", () => {
  test.each([
    [126_272_101_025, "1.26272101025e+11"],
    [1_234_567, "1.234567e+06"],
    [999_999, "999999"],
    [0.0001, "0.0001"],
    [0.000_012_34, "1.234e-05"],
    [0.5, "0.5"],
    [0, "0"],
  ])("are short as in Go's format: %d is %s", (value, text) => {
    expect(shortFloat(value)).toBe(text);
    expect(written(value, "short")).toBe(text);
  });

  test("are whole with %d", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(written(value, "whole")).toBe(String(value));
      }),
    );
  });

  test("have six decimals with %f", () => {
    expect(written(16.365, "six")).toBe("16.365000");
    expect(written(0, "six")).toBe("0.000000");
    fc.assert(
      fc.property(fc.double({ min: -1e12, max: 1e12, noNaN: true }), (value) => {
        const text = written(value, "six");
        expect(text).toMatch(/^-?\d+\.\d{6}$/);
        expect(Math.abs(Number(text) - value)).toBeLessThanOrEqual(1e-6 + Math.abs(value) * 1e-15);
      }),
    );
  });
});
