import fc from "fast-check";
import { expect, it } from "vitest";
import { roundTogether } from "../../../../domain/exact/round-together.ts";
import { lastUnits, sum, type Money } from "../../../../domain/exact/units.ts";

const CENT = 10_000_000n;
const money = (count: bigint): Money => lastUnits(count);
const cents = (list: readonly bigint[]): readonly number[] => list.map((each) => Number(each / CENT));

it("statements rounded to cents add up to the rounded total", () => {
  // 0.334 + 0.333 + 0.333 = 1.00: each alone would be 0.33, together 0.99; the cent goes to the largest remainder.
  const thirds = [333_000_000n, 334_000_000n, 333_000_000n].map(money);
  expect(cents(roundTogether(thirds, CENT))).toEqual([33, 34, 33]);
});

it("ties get the remaining units in the given order, and whole amounts stay whole", () => {
  // 0.005 + 0.02 + 0.005 = 0.03: one cent for two halves.
  expect(cents(roundTogether([5_000_000n, 20_000_000n, 5_000_000n].map(money), CENT))).toEqual([1, 2, 0]);
});

it("the sum is kept if one statement is a credit", () => {
  // −0.006 + 0.016 = 0.01: −0.01 + 0.02. Rounded down they are −1 and 1; the largest remainder is 0.006 of the second.
  expect(cents(roundTogether([-6_000_000n, 16_000_000n].map(money), CENT))).toEqual([-1, 2]);
  expect(roundTogether([], CENT)).toEqual([]);
});

it("each amount is rounded to a multiple next to it, and the sum to the nearest multiple", () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(-(10n ** 12n), 10n ** 12n).map(money)), (amounts) => {
      const rounded = roundTogether(amounts, CENT);
      rounded.forEach((each, index) => {
        const off = each - (amounts[index] ?? 0n);
        expect(each % CENT).toBe(0n);
        expect(-CENT < off && off < CENT).toBe(true);
      });
      const off = (sum(rounded) - sum(amounts)) * 2n;
      expect(-CENT <= off && off <= CENT).toBe(true);
    }),
  );
});
