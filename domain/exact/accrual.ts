import { EXACT_HOUR_MILLIS } from "../time.ts";
import { halfEvenOfNumbers, halfEvenQuotient, LARGEST_SAFE } from "./integer.ts";
import { compare, divide, multiply, ONE, rational, type Rational } from "./rational.ts";
import { difference, LAST_UNITS_IN_ONE, lastUnits, roundToLastUnit, type Amount, type Quantity } from "./units.ts";

/**
 * The exact C(t) of the ledger: the amount incurred from the origin to a time, 0 at the origin. Both functions throw a RangeError for a
 * time before the origin and for a time that is not a whole millisecond.
 */
export interface Accrual<Of extends Quantity> {
  /** The origin, milliseconds since the epoch. */
  readonly originMillis: number;
  /** Returns C(t), in the currency or in GPU-hours. */
  exactAt(millis: number): Rational;
  /** Returns R(C(t)). */
  roundedAt(millis: number): Amount<Of>;
}

/**
 * Returns the cost of `[fromMillis, untilMillis)`: R(C(until)) − R(C(from)). The parts of any split of a time add up to the whole, because
 * every inner boundary is added once and subtracted once.
 */
export function incurredIn<Of extends Quantity>(
  accrual: Accrual<Of>,
  fromMillis: number,
  untilMillis: number,
): Amount<Of> {
  return difference(accrual.roundedAt(untilMillis), accrual.roundedAt(fromMillis));
}

/** Creates an accrual from its exact function. `exact` is only called for times from the origin on. */
export function accrualOf<Of extends Quantity>(originMillis: number, exact: (millis: number) => Rational): Accrual<Of> {
  const exactAt = (millis: number): Rational => {
    elapsedMillis(originMillis, millis);
    return exact(millis);
  };
  return { originMillis, exactAt, roundedAt: (millis) => roundToLastUnit(exactAt(millis)) };
}

/**
 * Creates an accrual with a constant rate per hour. With a rate of 1 it counts the GPU-hours of a GPU. Every charge uses it: if the product
 * of rate and time is a safe integer, it is rounded without a bigint division, with the same result.
 */
export function steadyAccrual<Of extends Quantity>(perHour: Rational, originMillis: number): Accrual<Of> {
  return steadyAccruals<Of>(perHour)(originMillis);
}

/** Returns a function that creates accruals with a constant rate per hour, from any origin. */
function steadyAccruals<Of extends Quantity>(perHour: Rational): (originMillis: number) => Accrual<Of> {
  const perMilli = divide(perHour, rational(EXACT_HOUR_MILLIS));
  const { num, den } = multiply(perMilli, rational(LAST_UNITS_IN_ONE));
  const isSmall = num >= 0n && num <= LARGEST_SAFE && den <= LARGEST_SAFE;
  const [quickNum, quickDen] = isSmall ? [Number(num), Number(den)] : [Infinity, 1];
  return (originMillis) => ({
    originMillis,
    exactAt: (millis) => multiply(perMilli, rational(elapsedMillis(originMillis, millis))),
    roundedAt(millis) {
      const elapsed = elapsedMillis(originMillis, millis);
      const product = quickNum * elapsed;
      if (product <= Number.MAX_SAFE_INTEGER) return lastUnits(BigInt(halfEvenOfNumbers(product, quickDen)));
      return lastUnits(halfEvenQuotient(num * BigInt(elapsed), den));
    },
  });
}

const wholeGpuHours = steadyAccruals<"gpu-hour">(ONE);

/** Creates an accrual of the GPU-hours of a GPU, or of a part of one, since it appeared: `part` per hour. */
export function gpuHoursSince(appearedAt: number, part: Rational): Accrual<"gpu-hour"> {
  return compare(part, ONE) === 0 ? wholeGpuHours(appearedAt) : steadyAccrual(part, appearedAt);
}

function elapsedMillis(originMillis: number, millis: number): number {
  const elapsed = millis - originMillis;
  if (Number.isSafeInteger(elapsed) && elapsed >= 0) return elapsed;
  throw new RangeError(`${millis} is not a whole millisecond from the origin ${originMillis} on`);
}
