import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decimalText } from "../../../../domain/exact/integer.ts";
import { lastUnits } from "../../../../domain/exact/units.ts";
import { split } from "../../../../domain/exact/split.ts";
import {
  ownPrices,
  partPrices,
  PRICE_DIGITS,
  type Priced,
  type UnitPrices,
} from "../../../../reports/focus/unit-price.ts";

/** A quantity and costs in 10⁻⁹. */
const priced = (quantity: bigint, list: bigint, contracted = list, lines = 1): Priced => ({
  quantity,
  lines,
  list: lastUnits(list),
  contracted: lastUnits(contracted),
});

const words = (prices: UnitPrices | undefined) =>
  prices === undefined
    ? undefined
    : [prices.quantity, prices.list, prices.contracted].map((value) => decimalText(value, PRICE_DIGITS)).join(" ");

const LAST_UNIT = 10n ** 27n;

function holds({ list, contracted }: Priced, prices: UnitPrices): boolean {
  return [
    prices.list * prices.quantity - list * LAST_UNIT,
    prices.contracted * prices.quantity - contracted * LAST_UNIT,
  ].every((difference) => -LAST_UNIT <= difference && difference <= LAST_UNIT);
}

describe("the unit price of an origin", () => {
  it.each([
    // 24 h × 3.60 = 86.40
    { of: priced(24_000_000_000n, 86_400_000_000n), is: "24 3.6 3.6" },
    // 66.666666667 ÷ 24: ten digits, because the eleventh does not change the ninth digit of the cost.
    { of: priced(24_000_000_000n, 66_666_666_667n), is: "24 2.7777777778 2.7777777778" },
    { of: priced(1n, 3n), is: "0.000000001 3 3" },
    { of: priced(2_000_000_000n, 0n, 5_000_000_000n), is: "2 0 2.5" },
    // A correction of time that was charged too much.
    { of: priced(-1_000_000_000n, -3_000_000_000n), is: "-1 3 3" },
  ])("is the shortest decimal that is exact enough: $is", ({ of, is }) => {
    expect(words(ownPrices(of))).toBe(is);
  });

  it.each([
    { why: "no quantity has a cost", of: priced(0n, 1n) },
    { why: "it would be negative", of: priced(1_000_000_000n, -1n) },
  ])("is absent because $why", ({ of }) => {
    expect(ownPrices(of)).toBeUndefined();
  });
});

describe("the unit price of a part", () => {
  const origin = ownPrices(priced(24_000_000_000n, 86_400_000_000n))!;

  it.each([
    { why: "as it is", part: priced(1_500_000_000n, 5_400_000_000n), is: "1.5 3.6 3.6" },
    // 7.333333333 × 3.6 = 26.3999999988, which is 1.2 × 10⁻⁹ too low.
    { why: "for a finer quantity", part: priced(7_333_333_333n, 26_400_000_000n), is: "7.3333333332 3.6 3.6" },
    { why: "where hours were rounded to nothing", part: priced(0n, 2n), is: "0.0000000005 3.6 3.6" },
  ])("is its origin's, $why", ({ part, is }) => {
    expect(words(partPrices(part, origin))).toBe(is);
  });

  it("is its own if the price changed during the day, and its quantity stays unchanged", () => {
    expect(words(partPrices(priced(1_000_000_000n, 3_700_000_000n), origin))).toBe("1 3.7 3.7");
  });

  it("is its own by list alone if list and contract were rounded separately", () => {
    const of = priced(1_000_000_000n, 3_600_000_009n, 3_600_000_000n, 3);
    expect(words(partPrices(of, origin))).toBe("1 3.600000009 3.6");
  });

  it("equals the origin's for every part of a day whose lines were split and rounded one by one", () => {
    const line = fc.record({
      hours: fc.bigInt({ min: 1n, max: 10n ** 9n }),
      weights: fc.array(fc.nat({ max: 1000 }), { minLength: 3, maxLength: 3 }),
    });
    const run = (
      price: bigint,
      lines: readonly { readonly hours: bigint; readonly weights: readonly number[] }[],
    ): void => {
      const parts = [priced(0n, 0n), priced(0n, 0n), priced(0n, 0n)];
      for (const { hours, weights } of lines) {
        const cost = lastUnits<"currency">((hours * price) / 1_000_000n);
        const [ofHours, ofCost] = [split(hours, weights), split(cost, weights)];
        if (ofHours === undefined || ofCost === undefined) continue;
        for (const [index, part] of parts.entries())
          parts[index] = priced(
            part.quantity + ofHours[index]!,
            part.list + ofCost[index]!,
            part.list + ofCost[index]!,
            part.lines + 1,
          );
      }
      const sum = (of: (part: Priced) => bigint): bigint => parts.reduce((total, part) => total + of(part), 0n);
      const whole = ownPrices(
        priced(
          sum(({ quantity }) => quantity),
          sum(({ list }) => list),
        ),
      );
      for (const part of parts) {
        const prices = partPrices(part, whole);
        expect(prices?.contracted).toBe(whole?.contracted);
        expect(prices === undefined || holds(part, prices)).toBe(true);
      }
    };
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 8n }), fc.array(line, { maxLength: 24 }), run));
  });
});
