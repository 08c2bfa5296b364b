import { describe, expect, it } from "vitest";
import { carbonOf } from "../../../../domain/energy/carbon.ts";
import type { EnergyFactors } from "../../../../domain/energy/factors.ts";
import { rational } from "../../../../domain/exact/rational.ts";
import { formatAmount } from "../../../../domain/exact/units.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

/** Grams per kWh from the beginning of an hour, and other values from later times in it. */
function factors(...grams: readonly (readonly [from: number, grams: number])[]): EnergyFactors {
  return {
    pue: rational(5, 4),
    gramsPerKWh: grams.map(([fromMillis, each]) => ({ fromMillis, grams: rational(each) })),
  };
}

/** The emissions of 0.36 kWh over the first hour. */
function emitted(of: EnergyFactors, coveredMillis = HOUR): string | undefined {
  const carbon = carbonOf(
    { fromMillis: 0, untilMillis: HOUR, energy: { millijoules: 1_296_000_000n, coveredMillis } },
    of,
  );
  return carbon === undefined ? undefined : formatAmount(carbon);
}

describe("the emissions of energy", () => {
  it("are kWh × PUE × the factor of their time", () => {
    expect(emitted(factors([0, 400]))).toBe("180");
    expect(emitted(factors([-HOUR, 999], [0, 400], [HOUR, 999]))).toBe("180");
  });

  it("are divided by time where a factor begins inside a segment that has no cut there", () => {
    // A quarter of 0.45 kWh at 400, the rest at 100.
    expect(emitted(factors([0, 400], [HOUR / 4, 100]))).toBe("78.75");
  });

  it("are unknown where a part of the time has no factor, and where nothing was measured", () => {
    expect(emitted(factors())).toBeUndefined();
    expect(emitted(factors([HOUR / 2, 400]))).toBeUndefined();
    expect(emitted(factors([0, 400]), 0)).toBeUndefined();
  });

  it("are rounded once, half to even", () => {
    const segment = { fromMillis: 0, untilMillis: 1, energy: { millijoules: 9n, coveredMillis: 1 } };
    // 9 mJ are 2.5 × 10⁻⁹ kWh: 2.5 and 7.5 units of a gram.
    const one = { pue: rational(1), gramsPerKWh: [{ fromMillis: 0, grams: rational(1) }] };
    expect(carbonOf(segment, one)).toBe(2n);
    expect(carbonOf(segment, { ...one, pue: rational(3) })).toBe(8n);
  });
});
