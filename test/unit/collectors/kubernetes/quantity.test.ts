import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parseAmount,
  parseCount,
  parseMebibytes,
  parsePercent,
  parsePpm,
} from "../../../../collectors/kubernetes/projection/quantity.ts";

describe("a count of GPUs", () => {
  it.each([
    ["2", 2],
    [2, 2],
    ["1e3", 1000],
    [1e3, 1000],
    ["1E3", 1000],
    ["1k", 1000],
    ["1000m", 1],
    ["1.5k", 1500],
    ["+8", 8],
    ["8.0", 8],
    ["2.", 2],
    ["0", 0],
    ["-0", 0],
    ["1Ki", 1024],
    ["1Gi", 1_073_741_824],
    ["1E", undefined],
  ])("%j is %j", (written, count) => {
    const parsed = parseCount(written);
    expect("value" in parsed ? parsed.value : undefined).toBe(count);
  });

  it.each([
    ["500m", '"500m" is not a whole number'],
    [0.5, "0.5 is not a whole number"],
    ["-1", '"-1" is less than 0'],
    ["1E", '"1E" is too large for a count'],
    ["1e99", '"1e99" is too large for a count'],
    ["1e999999999", '"1e999999999" is too large for a count'],
    ["", '"" is not a quantity'],
    [".", '"." is not a quantity'],
    ["two", '"two" is not a quantity'],
    ["1 ", '"1 " is not a quantity'],
    ["0x10", '"0x10" is not a quantity'],
    ["1kk", '"1kk" is not a quantity'],
    ["9".repeat(500), `"${"9".repeat(38)}… is not a quantity`],
    [Number.NaN, "null is not a quantity"],
    [null, "null is not a quantity"],
    [undefined, "undefined is not a quantity"],
    [{ gpu: 1 }, '{"gpu":1} is not a quantity'],
  ])("%j is refused with a sentence", (written, refused) => {
    expect(parseCount(written)).toEqual({ refused });
  });

  it("is the number of its decimal text, with every suffix", () => {
    const suffixes = [
      ["", 0n],
      ["k", 3n],
      ["M", 6n],
      ["e3", 3n],
      ["E6", 6n],
    ] as const;
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.constantFrom(...suffixes), fc.nat(3), (digits, [suffix, power], zeroes) => {
        const exact = Number(BigInt(digits) * 10n ** power);
        expect(parseCount(`${digits}.${"0".repeat(zeroes)}${suffix}`)).toEqual({ value: exact });
      }),
    );
  });

  it("is always a safe whole number of at least 0, and no input makes the parser throw", () => {
    const anything = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[+-]?\d*\.?\d*([eE][+-]?\d+|[KMGTPE]i?|[numk])?$/),
      fc.anything(),
    );
    fc.assert(
      fc.property(anything, (written) => {
        const parsed = parseCount(written);
        const sane =
          "value" in parsed
            ? Number.isSafeInteger(parsed.value) && parsed.value >= 0
            : /is (not|less|too large)/.test(parsed.refused);
        expect(sane).toBe(true);
      }),
    );
  });
});

describe("GPU memory", () => {
  it.each([
    ["3000", 3000],
    [3000, 3000],
    ["3k", 3000],
    ["2Gi", 2048],
    ["512Mi", 512],
    ["1Ki", 1],
    ["0", 0],
  ])("%j is %j MiB: a bare number is MiB, a binary suffix means bytes", (written, mebibytes) => {
    expect(parseMebibytes(written)).toEqual({ value: mebibytes });
  });

  it("is refused below 0 and between two MiB", () => {
    expect(parseMebibytes("-1Ki")).toEqual({ refused: '"-1Ki" is less than 0' });
    expect(parseMebibytes("1.5")).toEqual({ refused: '"1.5" is not whole MiB' });
  });
});

describe("parts of a GPU", () => {
  it("are percentages from 0 to 100", () => {
    expect(parsePercent("30")).toEqual({ value: 30 });
    expect(parsePercent("130")).toEqual({ refused: '"130" is more than 100 percent' });
  });

  it.each([
    ["0.5", 500_000],
    ["1", 1_000_000],
    ["0.3333333", 333_333],
    ["0.0000005", 1],
    [0.25, 250_000],
  ])("%j is %j millionths, rounded to the nearest", (written, ppm) => {
    expect(parsePpm(written)).toEqual({ value: ppm });
  });

  it.each(["0", "1.5", "-0.5", "half", "0.0000001"])("%j is refused", (written) => {
    expect(parsePpm(written)).toHaveProperty("refused");
  });

  it("are amounts with a fraction if queues count them", () => {
    expect(parseAmount("2500m")).toEqual({ value: 2.5 });
    expect(parseAmount("-1")).toEqual({ refused: '"-1" is less than 0' });
  });
});
