import { decimalText, halfEvenQuotient } from "./integer.ts";
import { multiply, parseDecimal, rational, type Rational } from "./rational.ts";

declare const countsLastUnitsOf: unique symbol;

/** What is counted in last units. */
export type Quantity = "currency" | "gpu-hour" | "kilowatt-hour" | "gram";

/**
 * An amount in last units, 10⁻⁹ of the currency, of a GPU-hour, a kWh or a gram (ledger, "Words"). It is an integer of a type of its
 * own: neither a number nor an amount of another quantity is assignable to it, so that money never passes through a
 * floating-point number.
 */
export type Amount<Of extends Quantity> = bigint & { readonly [countsLastUnitsOf]: Of };

/** Money in 10⁻⁹ of the currency. */
export type Money = Amount<"currency">;

/** GPU-hours in 10⁻⁹ of one. */
export type GpuHours = Amount<"gpu-hour">;

/** What energy has emitted, in 10⁻⁹ g of CO₂e. */
export type Carbon = Amount<"gram">;

/** Digits of the last unit after the point. */
export const LAST_UNIT_DIGITS = 9;

/** Last units in one of the currency, or in one GPU-hour. */
export const LAST_UNITS_IN_ONE = 1_000_000_000n;

const LAST_UNITS = rational(LAST_UNITS_IN_ONE);

/** What an amount's text says, or a sentence that says why it says nothing. */
export type ParsedAmount<Of extends Quantity> = { readonly value: Amount<Of> } | { readonly error: string };

/** An integer that counts last units, as an amount of them. */
export function lastUnits<Of extends Quantity>(count: bigint): Amount<Of> {
  return count as Amount<Of>;
}

/** An exact value, in the currency or in GPU-hours, rounded half to even to the last unit: the R of `R(C(b)) − R(C(a))`. */
export function roundToLastUnit<Of extends Quantity>(exact: Rational): Amount<Of> {
  return lastUnits(halfEvenQuotient(exact.num * LAST_UNITS_IN_ONE, exact.den));
}

/** The exact value of an amount, in the currency or in GPU-hours. */
export function exactly(amount: Amount<Quantity>): Rational {
  return rational(amount, LAST_UNITS_IN_ONE);
}

/** The sum of amounts of one quantity. */
export function sum<Of extends Quantity>(amounts: Iterable<Amount<Of>>): Amount<Of> {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return lastUnits(total);
}

/** a − b. */
export function difference<Of extends Quantity>(a: Amount<Of>, b: Amount<Of>): Amount<Of> {
  return lastUnits(a - b);
}

/** An amount as decimal text in the currency or in GPU-hours, without zeros at its end: `1.36125`, `-0.000000001`, `5`. */
export function formatAmount(amount: Amount<Quantity>): string {
  return decimalText(amount, LAST_UNIT_DIGITS);
}

/** The amount that a decimal text says. What is finer than the last unit is refused, not rounded. */
export function parseAmount<Of extends Quantity>(text: string): ParsedAmount<Of> {
  const parsed = parseDecimal(text);
  if ("error" in parsed) return parsed;
  const units = multiply(parsed.value, LAST_UNITS);
  if (units.den !== 1n) return { error: `an amount has ${LAST_UNIT_DIGITS} digits after the point at most` };
  return { value: lastUnits(units.num) };
}

/** The amount of a text that is known to say one, as the store gives its decimals. Fails with a RangeError where it does not. */
export function amountOf<Of extends Quantity>(text: string): Amount<Of> {
  const parsed = parseAmount<Of>(text);
  if ("error" in parsed) throw new RangeError(`${text} is not an amount: ${parsed.error}`);
  return parsed.value;
}
