import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, compare, multiply, rational, subtract, ZERO, type Rational } from "../../../../domain/exact/rational.ts";
import { split, type Weight } from "../../../../domain/exact/split.ts";
import { lastUnits, type Money } from "../../../../domain/exact/units.ts";

const money = (count: bigint): Money => lastUnits(count);
const exactOf = (weight: Weight): Rational => (typeof weight === "object" ? weight : rational(weight));
const absolute = ({ num, den }: Rational): Rational => rational(num < 0n ? -num : num, den);

const amount = fc
  .oneof(fc.bigInt(-100n, 100n), fc.bigInt(-(10n ** 13n), 10n ** 13n), fc.bigInt(-(10n ** 30n), 10n ** 30n))
  .map(money);
const weight: fc.Arbitrary<Weight> = fc.oneof(
  fc.nat(9),
  fc.nat(3_600_000),
  fc.nat(2 ** 43),
  fc.bigInt(0n, 10n ** 25n),
  fc.tuple(fc.nat(3_600_000), fc.integer({ min: 1, max: 8 })).map(([num, den]) => rational(num, den)),
);
const weights = fc.oneof(
  fc.array(weight, { maxLength: 9 }),
  fc.array(fc.nat(5), { maxLength: 40 }),
  fc.array(fc.nat(3_600_000), { maxLength: 9 }),
);

describe("a split by largest remainder", () => {
  it.each<[string, bigint, Weight[], bigint[]]>([
    // 10 ÷ 3 = 3.33 each: 3 + 3 + 3, and the unit that is left goes to the first of equals.
    ["ties go to the earlier one", 10n, [1, 1, 1], [4n, 3n, 3n]],
    ["two remaining units go to the first two", 11n, [1, 1, 1], [4n, 4n, 3n]],
    // 7 × 1/6 = 1.167, 7 × 2/6 = 2.333, 7 × 3/6 = 3.5: 1 + 2 + 3, the largest remainder is the last one's.
    ["the largest remainder is served first", 7n, [1, 2, 3], [1n, 2n, 4n]],
    ["a weight of 0 gets nothing", 5n, [0, 1, 0, 1], [0n, 3n, 0n, 2n]],
    ["a correction is split like its opposite", -7n, [1, 2, 3], [-1n, -2n, -4n]],
    ["an amount of 0 is split into zeros", 0n, [1, 2], [0n, 0n]],
    ["one weight gets everything", -9n, [rational(1, 7)], [-9n]],
    // Shares 1/7 and 4/7 of a GPU: 10 × 1/5 = 2, 10 × 4/5 = 8.
    ["fractions and integers go together", 10n, [rational(1, 7), rational(4, 7)], [2n, 8n]],
    ["units of different kinds are split in the same way", 6n, [1, 1n, rational(1)], [2n, 2n, 2n]],
  ])("%s", (_, of, over, parts) => {
    expect(split(money(of), over)).toEqual(parts);
  });

  it("sums to the amount, with each part less than one unit from its exact share", () => {
    fc.assert(
      fc.property(amount, weights, (of, over) => {
        const exact = over.map(exactOf);
        const total = exact.reduce(add, ZERO);
        const parts = split(of, over);
        fc.pre(total.num !== 0n);
        expect(parts?.reduce<bigint>((all, part) => all + part, 0n)).toBe(of);
        exact.forEach((each, index) => {
          const share = multiply(rational(of), rational(each.num * total.den, each.den * total.num));
          const part = rational(parts?.[index] ?? 0n);
          expect(compare(absolute(subtract(share, part)), rational(1)) < 0).toBe(true);
          expect(each.num === 0n && part.num !== 0n).toBe(false);
        });
      }),
    );
  });

  it("gives the remaining units to the first of many equal parts", () => {
    // 40 × 1 and 7 units more: the first seven have 2.
    const parts = split(
      money(47n),
      Array.from({ length: 40 }, () => 1),
    );
    expect(parts).toEqual(Array.from({ length: 40 }, (_, index) => (index < 7 ? 2n : 1n)));
  });

  it("gives the remaining units to the largest remainders, to the earlier one of two equal remainders", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 13n).map(money), fc.array(fc.nat(3_600_000), { minLength: 1 }), (of, over) => {
        const total = BigInt(over.reduce((all, each) => all + each, 0));
        if (total === 0n) return;
        const parts = split(of, over) ?? [];
        const served = over.map((each, index) => ({
          rest: (of * BigInt(each)) % total,
          isServed: parts[index] !== (of * BigInt(each)) / total,
        }));
        // In the order of remainders, the parts with a unit come before the parts without one; the sort is stable.
        const order = served.toSorted((a, b) => (a.rest < b.rest ? 1 : a.rest > b.rest ? -1 : 0));
        const first = order.findIndex(({ isServed }) => !isServed);
        expect(order.slice(first).some(({ isServed }) => isServed)).toBe(false);
      }),
    );
  });

  it("has the same result for weights in the range of numbers and beyond it", () => {
    const scale = 10n ** 20n;
    fc.assert(
      fc.property(amount, fc.array(fc.nat(40_000_000), { maxLength: 20 }), (of, over) => {
        expect(split(of, over)).toEqual(
          split(
            of,
            over.map((each) => BigInt(each) * scale),
          ),
        );
      }),
    );
  });

  it("is exact at the limit of the range of numbers", () => {
    const [edge, total] = [BigInt(Number.MAX_SAFE_INTEGER), 94_906_265];
    for (const of of [edge, edge - 1n, edge + 1n]) {
      for (const first of [1, 2, 3, total - 1, total >> 1]) {
        const big = [BigInt(first) * 10n ** 12n, BigInt(total - first) * 10n ** 12n];
        expect(split(money(of), [first, total - first])).toEqual(split(money(of), big));
      }
    }
  });

  it("has no result if all weights are 0, even for an amount of 0", () => {
    expect(split(money(5n), [])).toBeUndefined();
    expect(split(money(5n), [0, 0n, rational(0)])).toBeUndefined();
    expect(split(money(0n), [0])).toBeUndefined();
  });

  it.each<[Weight]>([[-1], [-1n], [rational(-1, 2)], [0.5], [Number.NaN], [2 ** 60]])(
    "refuses the weight %s",
    (wrong) => {
      expect(() => split(money(5n), [1, wrong])).toThrow(RangeError);
    },
  );
});
