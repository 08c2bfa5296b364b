/** The largest integer for which arithmetic on numbers is exact. */
export const LARGEST_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Returns the greatest common divisor of two integers of at least 0. Small integers are divided as numbers, which is faster. */
export function gcd(one: bigint, other: bigint): bigint {
  let [a, b] = [one, other];
  while (b !== 0n) {
    if (a <= LARGEST_SAFE && b <= LARGEST_SAFE) return BigInt(gcdOfNumbers(Number(a), Number(b)));
    [a, b] = [b, a % b];
  }
  return a;
}

function gcdOfNumbers(one: number, other: number): number {
  let [a, b] = [one, other];
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** Returns the largest integer that is at most `num / den`; `den` is positive. */
export function floorQuotient(num: bigint, den: bigint): bigint {
  const quotient = num / den;
  return num < 0n && quotient * den !== num ? quotient - 1n : quotient;
}

/** Returns `num / den` rounded to the nearest integer, a half to the even one; `den` is positive. */
export function halfEvenQuotient(num: bigint, den: bigint): bigint {
  const floor = floorQuotient(num, den);
  const twice = (num - floor * den) * 2n;
  const isUp = twice > den || (twice === den && (floor & 1n) === 1n);
  return isUp ? floor + 1n : floor;
}

/**
 * Returns the result of {@link halfEvenQuotient} for two safe integers: `num` of at least 0 and a positive `den`. Every step stays a safe
 * integer, so the result is rounded only once.
 */
export function halfEvenOfNumbers(num: number, den: number): number {
  const rest = num % den;
  const floor = (num - rest) / den;
  const missing = den - rest;
  return rest > missing || (rest === missing && floor % 2 === 1) ? floor + 1 : floor;
}

/** Returns an integer times 10⁻ⁿ as decimal text, without trailing zeros in the fraction: 1361250000 and 9 give `1.36125`. */
export function decimalText(integer: bigint, digits: number): string {
  const sign = integer < 0n ? "-" : "";
  const text = (integer < 0n ? -integer : integer).toString().padStart(digits + 1, "0");
  const point = text.length - digits;
  const fraction = text.slice(point).replace(/0+$/, "");
  return sign + text.slice(0, point) + (fraction === "" ? "" : `.${fraction}`);
}
