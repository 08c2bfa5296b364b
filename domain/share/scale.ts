import { add, compare, divide, ONE, ZERO, type Rational } from "../exact/rational.ts";

/** Returns the sum of shares; 0 if there are none. */
export function sumOf(shares: Iterable<Rational>): Rational {
  let sum = ZERO;
  for (const share of shares) sum = add(sum, share);
  return sum;
}

/**
 * Returns the divisor of shares: their sum if it is more than 1, otherwise 1. If the created instances or the held shares of a GPU add up to
 * more than 1, all are divided by the sum.
 */
export function divisorOf(shares: Iterable<Rational>): Rational {
  const sum = sumOf(shares);
  return compare(sum, ONE) > 0 ? sum : ONE;
}

/** Returns the shares, all divided by their sum if it is more than 1. */
export function scaledToOne(shares: readonly Rational[]): readonly Rational[] {
  const divisor = divisorOf(shares);
  return divisor === ONE ? shares : shares.map((share) => divide(share, divisor));
}
