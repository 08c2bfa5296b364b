import fc from "fast-check";
import { expect, it } from "vitest";
import { rational } from "../../../../domain/exact/rational.ts";
import {
  difference,
  exactly,
  formatAmount,
  lastUnits,
  parseAmount,
  roundToLastUnit,
  sum,
  type GpuHours,
  type Money,
} from "../../../../domain/exact/units.ts";

const money = (count: bigint): Money => lastUnits(count);

it("an exact value is rounded half to even to 10⁻⁹", () => {
  expect(roundToLastUnit(rational(1, 3))).toBe(333_333_333n);
  // 0.0000000005 lies between 0 and 1 unit, 0.0000000015 between 1 and 2: both go to the even one.
  expect(roundToLastUnit(rational(1n, 2_000_000_000n))).toBe(0n);
  expect(roundToLastUnit(rational(3n, 2_000_000_000n))).toBe(2n);
  expect(roundToLastUnit(rational(-3n, 2_000_000_000n))).toBe(-2n);
});

it.each([
  [1_361_250_000n, "1.36125"],
  [5_400_000_000n, "5.4"],
  [-1n, "-0.000000001"],
  [0n, "0"],
  [-20_000_000_000n, "-20"],
])("%i last units are printed as %s", (count, text) => {
  expect(formatAmount(money(count))).toBe(text);
  expect(parseAmount(text)).toEqual({ value: count });
});

it("5.40 and 5.4 are the same amount", () => {
  expect(parseAmount("5.40")).toEqual(parseAmount("5.4"));
});

it("a value finer than the last unit is refused, and not rounded", () => {
  expect(parseAmount("0.0000000001")).toEqual({ error: "an amount has at most 9 digits after the point" });
  expect(parseAmount("0.0000000010")).toEqual({ value: 1n });
  expect(parseAmount("1e3")).toEqual({ error: '"1e3" is not a decimal written out in digits, such as 3.60' });
});

it("every amount has the same value after it was printed and read", () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 30n), 10n ** 30n), (count) => {
      expect(parseAmount(formatAmount(money(count)))).toEqual({ value: count });
      expect(roundToLastUnit(exactly(money(count)))).toBe(count);
    }),
  );
});

it("amounts are added and subtracted", () => {
  expect(sum([money(3n), money(-5n)])).toBe(-2n);
  expect(sum([])).toBe(0n);
  expect(difference(money(3n), money(5n))).toBe(-2n);
});

it("the compiler refuses a number, a bare bigint and GPU-hours where an amount of money is required", () => {
  const charge = (amount: Money): Money => amount;
  const hours: GpuHours = lastUnits(1n);
  // @ts-expect-error a number is not money
  charge(1.5);
  // @ts-expect-error an integer without a unit is not money
  charge(1n);
  // @ts-expect-error GPU-hours are not money
  charge(hours);
  // @ts-expect-error an amount is not a number
  const number: number = charge(money(1n));
  expect(typeof number).toBe("bigint");
});
