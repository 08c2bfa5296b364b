import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  approximate,
  compare,
  divide,
  exactDecimal,
  multiply,
  parseDecimal,
  rational,
  roundedDecimal,
  roundHalfEven,
  smaller,
  subtract,
  type Rational,
} from "../../../../domain/exact/rational.ts";

/** Small integers, and integers beyond the range of a number. */
const integer = fc.oneof(fc.bigInt(-1000n, 1000n), fc.bigInt(-(10n ** 40n), 10n ** 40n));
const fraction = fc
  .tuple(
    integer,
    integer.filter((den) => den !== 0n),
  )
  .map(([num, den]) => rational(num, den));

const value = (text: string): Rational => {
  const parsed = parseDecimal(text);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed.value;
};

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

describe("fractions", () => {
  it("are in lowest terms with a positive denominator", () => {
    expect(rational(6n, -4n)).toEqual({ num: -3n, den: 2n });
    expect(rational(0, 7)).toEqual({ num: 0n, den: 1n });
    fc.assert(
      fc.property(fraction, ({ num, den }) => {
        expect(den > 0n).toBe(true);
        expect(gcd(num < 0n ? -num : num, den)).toBe(1n);
      }),
    );
  });

  it("are added, subtracted, multiplied and divided like their definitions by integers", () => {
    fc.assert(
      fc.property(fraction, fraction, (a, b) => {
        expect(add(a, b)).toEqual(rational(a.num * b.den + b.num * a.den, a.den * b.den));
        expect(subtract(add(a, b), b)).toEqual(a);
        expect(multiply(a, b)).toEqual(rational(a.num * b.num, a.den * b.den));
        const factor = b.num === 0n ? rational(1) : b;
        expect(divide(multiply(a, factor), factor)).toEqual(a);
        expect(Math.sign(compare(a, b))).toBe(Number(signOf(subtract(a, b).num)));
        expect(compare(smaller(a, b), a) <= 0 && compare(smaller(a, b), b) <= 0).toBe(true);
      }),
    );
  });

  it("are near doubles for panels", () => {
    expect([rational(1, 3), rational(-7, 2), rational(0)].map(approximate)).toEqual([1 / 3, -3.5, 0]);
  });

  it("refuse a denominator of 0, a number that is not an integer, and a division by 0", () => {
    expect(() => rational(1, 0)).toThrow(RangeError);
    expect(() => rational(0.5)).toThrow(RangeError);
    expect(() => divide(rational(1), rational(0))).toThrow(RangeError);
  });

  it.each([
    [5, 2, 2n],
    [7, 2, 4n],
    [-5, 2, -2n],
    [-7, 2, -4n],
    [8, 3, 3n],
    [-8, 3, -3n],
    [6, 1, 6n],
  ])("%i/%i is %i rounded half to even", (num, den, even) => {
    expect(roundHalfEven(rational(num, den))).toBe(even);
  });

  it("are rounded to an integer at most a half away, to the even one if two are equally near, and symmetrically for negative values", () => {
    fc.assert(
      fc.property(fraction, (a) => {
        const rounded = roundHalfEven(a);
        const twice = (a.num - rounded * a.den) * 2n;
        expect(-a.den <= twice && twice <= a.den).toBe(true);
        const isHalf = twice === a.den || twice === -a.den;
        expect(isHalf && rounded % 2n !== 0n).toBe(false);
        expect(roundHalfEven(rational(-a.num, a.den))).toBe(-rounded);
      }),
    );
  });
});

describe("decimal texts", () => {
  it.each([
    ["3.60", 18n, 5n],
    ["-0.5", -1n, 2n],
    ["0012", 12n, 1n],
    ["0.000000001", 1n, 1_000_000_000n],
    ["12345678901234567890.5", 24_691_357_802_469_135_781n, 2n],
  ])("%s is read exactly", (text, num, den) => {
    expect(parseDecimal(text)).toEqual({ value: { num, den } });
  });

  it.each([
    "",
    " 1",
    "1 ",
    "1.",
    ".5",
    "+1",
    "1e3",
    "-1.5e3",
    "1,000",
    "1_000",
    "0x10",
    "NaN",
    "Infinity",
    "--1",
    "1.2.3",
  ])("'%s' is refused with a sentence", (text) => {
    expect(JSON.stringify(parseDecimal(text))).toMatch(/"error":.*is not a decimal written out/);
  });

  it("are printed exactly if the digits suffice, and without zeros at the end", () => {
    expect(exactDecimal(value("1.361250"), 9)).toBe("1.36125");
    expect(exactDecimal(value("-5.40"), 1)).toBe("-5.4");
    expect(exactDecimal(value("5"), 0)).toBe("5");
    expect(exactDecimal(value("5.25"), 1)).toBeUndefined();
    expect(exactDecimal(rational(1, 3), 18)).toBeUndefined();
  });

  it("are rounded half to even if a value needs more digits", () => {
    expect(roundedDecimal(rational(1, 3), 18)).toBe("0.333333333333333333");
    expect(roundedDecimal(rational(1, 8), 2)).toBe("0.12");
    expect(roundedDecimal(rational(3, 8), 2)).toBe("0.38");
    expect(roundedDecimal(rational(-1, 1000), 2)).toBe("0");
  });

  it("have the same value after they were printed and read", () => {
    const decimal = fc.tuple(integer, fc.integer({ min: 0, max: 12 }));
    fc.assert(
      fc.property(decimal, ([num, digits]) => {
        const exact = rational(num, 10n ** BigInt(digits));
        expect(value(exactDecimal(exact, 12) ?? "")).toEqual(exact);
      }),
    );
  });
});

function signOf(integerValue: bigint): bigint {
  return integerValue < 0n ? -1n : integerValue > 0n ? 1n : 0n;
}
