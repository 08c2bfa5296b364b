import { decimalText, gcd, halfEvenQuotient } from "./integer.ts";

declare const inLowestTerms: unique symbol;

/** An exact fraction in lowest terms with a positive denominator. Only the functions of this file create one. */
export interface Rational {
  readonly num: bigint;
  readonly den: bigint;
  readonly [inLowestTerms]: true;
}

/** The number that was parsed from a decimal text, or a sentence with the reason why it is not a decimal. */
export type ParsedDecimal = { readonly value: Rational } | { readonly error: string };

/** Returns the fraction `num / den` of integers. Throws a RangeError if the denominator is 0 or a number is not an integer. */
export function rational(num: bigint | number, den: bigint | number = 1n): Rational {
  const [above, below] = [BigInt(num), BigInt(den)];
  if (below === 0n) throw new RangeError("a fraction needs a denominator that is not 0");
  return reduced(above, below);
}

/** The number 0. */
export const ZERO = rational(0n);

/** The number 1. */
export const ONE = rational(1n);

/** The form that {@link parseDecimal} accepts, for error messages. */
export const DECIMAL_FORM = "a decimal written out in digits, such as 3.60";

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Parses a plain decimal: `3.60`, `-12`, `0.000000001`. Exponents, plus signs, separators and blanks are errors, because a price is written
 * out.
 */
export function parseDecimal(text: string): ParsedDecimal {
  const match = DECIMAL.exec(text);
  if (match === null) return { error: `${JSON.stringify(text)} is not ${DECIMAL_FORM}` };
  const [, sign = "", whole = "", fraction = ""] = match;
  return { value: reduced(BigInt(`${sign}${whole}${fraction}`), 10n ** BigInt(fraction.length)) };
}

/** Returns the number of a decimal that a program wrote, as {@link parseDecimal} reads it. Throws a TypeError for another text. */
export function exactOf(text: string): Rational {
  const parsed = parseDecimal(text);
  if ("error" in parsed) throw new TypeError(parsed.error);
  return parsed.value;
}

/** Returns a + b. Most numbers that a ledger adds or multiplies are 0 or 1, so the code skips the arithmetic for them. */
export function add(a: Rational, b: Rational): Rational {
  if (a.num === 0n) return b;
  if (b.num === 0n) return a;
  if (a.den === b.den) return reduced(a.num + b.num, a.den);
  return reduced(a.num * b.den + b.num * a.den, a.den * b.den);
}

/** Returns a − b. */
export function subtract(a: Rational, b: Rational): Rational {
  if (b.num === 0n) return a;
  if (a.den === b.den) return reduced(a.num - b.num, a.den);
  return reduced(a.num * b.den - b.num * a.den, a.den * b.den);
}

/** Returns a × b. */
export function multiply(a: Rational, b: Rational): Rational {
  if (isOne(a)) return b;
  if (isOne(b)) return a;
  return reduced(a.num * b.num, a.den * b.den);
}

/** Returns a ÷ b. Throws a RangeError if b is 0. */
export function divide(a: Rational, b: Rational): Rational {
  if (b.num === 0n) throw new RangeError("division by 0");
  if (isOne(b)) return a;
  return reduced(a.num * b.den, a.den * b.num);
}

/** Returns a negative number if a < b, a positive number if a > b, and 0 if they are equal. */
export function compare(a: Rational, b: Rational): number {
  const [left, right] = a.den === b.den ? [a.num, b.num] : [a.num * b.den, b.num * a.den];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the smaller of two fractions. */
export function smaller(a: Rational, b: Rational): Rational {
  return compare(a, b) <= 0 ? a : b;
}

/** Returns the larger of two fractions. */
export function larger(a: Rational, b: Rational): Rational {
  return smaller(a, b) === a ? b : a;
}

/** Rounds to the nearest integer, a half to the even one: the rounding R of the ledger's rules. */
export function roundHalfEven(a: Rational): bigint {
  return halfEvenQuotient(a.num, a.den);
}

/** Returns the exact decimal text with at most `mostDigits` digits after the point. Undefined if the value needs more digits. */
export function exactDecimal(a: Rational, mostDigits: number): string | undefined {
  const scaled = a.num * 10n ** BigInt(mostDigits);
  return scaled % a.den === 0n ? decimalText(scaled / a.den, mostDigits) : undefined;
}

/** Returns the decimal text rounded half to even to `digits` digits after the point, without trailing zeros. */
export function roundedDecimal(a: Rational, digits: number): string {
  return decimalText(halfEvenQuotient(a.num * 10n ** BigInt(digits), a.den), digits);
}

function isOne({ num, den }: Rational): boolean {
  return num === 1n && den === 1n;
}

function reduced(num: bigint, den: bigint): Rational {
  const [above, below] = den < 0n ? [-num, -den] : [num, den];
  if (below === 1n) return { num: above, den: below } as Rational;
  const common = gcd(above < 0n ? -above : above, below);
  return (common === 1n ? { num: above, den: below } : { num: above / common, den: below / common }) as Rational;
}

/** Returns the value as a double, for panels and series. No charge is computed from it. */
export function approximate({ num, den }: Rational): number {
  return Number(num) / Number(den);
}
