import type { MeasuredEnergy } from "../allocation/segment.ts";
import type { Millis } from "../exact/part-of-span.ts";
import { add, divide, multiply, rational, ZERO, type Rational } from "../exact/rational.ts";
import { roundToLastUnit, type Carbon } from "../exact/units.ts";
import type { EnergyFactors } from "./factors.ts";

/** A time of a GPU with the energy that was measured of it. */
export interface EnergySegment extends Millis {
  readonly energy: MeasuredEnergy;
}

const MILLIJOULES_IN_KWH = 3_600_000_000n;

/** The kWh of so many millijoules, exact. */
export function kWhOf(millijoules: bigint): Rational {
  return rational(millijoules, MILLIJOULES_IN_KWH);
}

/**
 * What the energy of a segment has emitted: kWh × PUE × the grams per kWh that hold at the time, rounded half to even once
 * (ledger, "Energy and carbon"). A factor that begins inside the segment divides its energy by time. Undefined where nothing was
 * measured, and where no factor is known for some of the time: that is not 0.
 */
export function carbonOf(segment: EnergySegment, { pue, gramsPerKWh }: EnergyFactors): Carbon | undefined {
  const { fromMillis, untilMillis, energy } = segment;
  const known = gramsPerKWh[0]?.fromMillis ?? Infinity;
  if (energy.coveredMillis === 0 || fromMillis < known) return undefined;
  let gramMillis: Rational = ZERO;
  gramsPerKWh.forEach(({ fromMillis: from, grams }, index) => {
    const until = gramsPerKWh[index + 1]?.fromMillis ?? Infinity;
    const millis = Math.min(until, untilMillis) - Math.max(from, fromMillis);
    if (millis > 0) gramMillis = add(gramMillis, multiply(grams, rational(millis)));
  });
  const grams = divide(gramMillis, rational(untilMillis - fromMillis));
  return roundToLastUnit(multiply(multiply(kWhOf(energy.millijoules), pue), grams));
}
