import type { MeasuredEnergy } from "../allocation/segment.ts";
import type { Millis } from "../exact/part-of-span.ts";
import { add, divide, multiply, rational, ZERO, type Rational } from "../exact/rational.ts";
import { roundToLastUnit, type Carbon } from "../exact/units.ts";
import type { EnergyFactors } from "./factors.ts";

/** A time of a GPU with its measured energy. */
export interface EnergySegment extends Millis {
  readonly energy: MeasuredEnergy;
}

const MILLIJOULES_IN_KWH = 3_600_000_000n;

/** Returns exact kWh from millijoules. */
export function kWhOf(millijoules: bigint): Rational {
  return rational(millijoules, MILLIJOULES_IN_KWH);
}

/**
 * Returns the emissions of a segment's energy: kWh × PUE × the grams per kWh at the time, rounded half to even once (docs/energy.md). If a
 * factor begins inside the segment, its energy is divided by time. Undefined, not 0, if nothing was measured, or if no factor is known for
 * a part of the time.
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
