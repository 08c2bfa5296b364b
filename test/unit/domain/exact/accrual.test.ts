import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accrualOf, incurredIn, steadyAccrual } from "../../../../domain/exact/accrual.ts";
import { compare, multiply, rational, ZERO } from "../../../../domain/exact/rational.ts";
import { formatAmount, roundToLastUnit } from "../../../../domain/exact/units.ts";
import { rounds } from "../../../support/rounds.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

const ORIGIN = Date.UTC(2026, 2, 1);

/** Prices with few digits and prices beyond the precision of a number. */
const price = fc
  .oneof(
    fc.tuple(fc.nat(100_000), fc.constantFrom(1, 10, 100, 1000, 7)),
    fc.tuple(fc.bigInt(0n, 10n ** 25n), fc.bigInt(1n, 10n ** 12n)),
  )
  .map(([num, den]) => rational(num, den));
const elapsed = fc.oneof(fc.nat(5), fc.nat(HOUR), fc.nat(400 * 24 * HOUR));

describe("a steady accrual", () => {
  it("is 0 at its origin and the price after an hour", () => {
    const accrual = steadyAccrual<"currency">(rational(18, 5), ORIGIN);
    expect(accrual.roundedAt(ORIGIN)).toBe(0n);
    expect(formatAmount(accrual.roundedAt(ORIGIN + HOUR))).toBe("3.6");
    // 3.60 × 1,755 s ÷ 3,600 s = 1.755, the unobserved line of the first scenario.
    expect(formatAmount(incurredIn(accrual, ORIGIN + 2 * HOUR + 45_000, ORIGIN + 2.5 * HOUR))).toBe("1.755");
  });

  it("counts GPU-hours at 1 an hour", () => {
    // 1 ms is 1 ÷ 3,600,000 h = 0.000000277… of one.
    const hours = steadyAccrual<"gpu-hour">(rational(1), ORIGIN);
    expect(formatAmount(hours.roundedAt(ORIGIN + 1))).toBe("0.000000278");
    expect(formatAmount(hours.roundedAt(ORIGIN + 1.5 * HOUR))).toBe("1.5");
  });

  it("is rounded like the exact value, whether the value fits a number or not", () => {
    fc.assert(
      fc.property(price, elapsed, (perHour, millis) => {
        const accrual = steadyAccrual<"currency">(perHour, ORIGIN);
        const exact = multiply(perHour, rational(millis, HOUR));
        expect(accrual.exactAt(ORIGIN + millis)).toEqual(exact);
        expect(accrual.roundedAt(ORIGIN + millis)).toBe(roundToLastUnit(exact));
      }),
      { numRuns: rounds(1000) },
    );
  });

  it("never falls", () => {
    fc.assert(
      fc.property(price, elapsed, elapsed, (perHour, one, more) => {
        const accrual = steadyAccrual<"currency">(perHour, ORIGIN);
        const [before, after] = [ORIGIN + one, ORIGIN + one + more];
        expect(compare(accrual.exactAt(before), accrual.exactAt(after)) <= 0).toBe(true);
        expect(incurredIn(accrual, before, after) >= 0n).toBe(true);
      }),
    );
  });

  it.each([-1, 0.5, Number.NaN])("refuses the time %s after its origin", (off) => {
    const accrual = steadyAccrual<"currency">(rational(1), ORIGIN);
    expect(() => accrual.roundedAt(ORIGIN + off)).toThrow(RangeError);
    expect(() => accrual.exactAt(ORIGIN + off)).toThrow(RangeError);
  });
});

describe("an accrual that is cut anywhere", () => {
  it("has parts that add up to the whole", () => {
    fc.assert(
      fc.property(price, fc.array(elapsed, { minLength: 2, maxLength: 20 }), (perHour, times) => {
        const cuts = times.map((millis) => ORIGIN + millis).toSorted((a, b) => a - b);
        const [first = ORIGIN, last = ORIGIN] = [cuts[0], cuts.at(-1)];
        const accruals = [
          steadyAccrual<"currency">(perHour, ORIGIN),
          // An accrual that does not grow evenly.
          accrualOf<"currency">(ORIGIN, (at) => multiply(perHour, rational((at - ORIGIN) ** 2 % 1_000_003, 7919))),
        ];
        for (const accrual of accruals) {
          const parts = cuts.slice(1).map((until, index) => incurredIn(accrual, cuts[index] ?? 0, until));
          expect(parts.reduce<bigint>((all, part) => all + part, 0n)).toBe(incurredIn(accrual, first, last));
        }
      }),
    );
  });

  it("an accrual of one last unit per hour keeps that unit when the hour is cut into thirds", () => {
    // 1 unit an hour: after 20 and 40 minutes 1/3 and 2/3 of a unit, rounded 0 and 1; the parts are 0, 1 and 0, together 1.
    const accrual = steadyAccrual<"currency">(rational(1n, 1_000_000_000n), ORIGIN);
    const thirds = [0, 1, 2].map((n) => incurredIn(accrual, ORIGIN + (n * HOUR) / 3, ORIGIN + ((n + 1) * HOUR) / 3));
    expect(thirds).toEqual([0n, 1n, 0n]);
  });

  it("an accrual with a function calls it only for times from its origin on", () => {
    const accrual = accrualOf<"currency">(ORIGIN, () => ZERO);
    expect(() => accrual.roundedAt(ORIGIN - 1)).toThrow(RangeError);
    expect(accrual.roundedAt(ORIGIN)).toBe(0n);
  });
});
