import { decimalText, halfEvenQuotient } from "./integer.ts";
import { multiply, parseDecimal, rational, type Rational } from "./rational.ts";

declare const countsLastUnitsOf: unique symbol;

/** The kinds of quantity that are counted in last units. */
export type Quantity = "currency" | "gpu-hour" | "kilowatt-hour" | "gram";

/**
 * An amount in last units: 10⁻⁹ of the currency, of a GPU-hour, a kWh or a gram. It is an integer with a type of its own. A number or an
 * amount of another quantity cannot be assigned to it, so money never becomes a floating-point number.
 */
export type Amount<Of extends Quantity> = bigint & { readonly [countsLastUnitsOf]: Of };

/** Money in 10⁻⁹ of the currency. */
export type Money = Amount<"currency">;

/** GPU-hours in units of 10⁻⁹ GPU-hour. */
export type GpuHours = Amount<"gpu-hour">;

/** Emissions of energy, in 10⁻⁹ g of CO₂e. */
export type Carbon = Amount<"gram">;

/** Decimal digits of the last unit. */
export const LAST_UNIT_DIGITS = 9;

/** The number of last units in one unit of the currency, or in one GPU-hour. */
export const LAST_UNITS_IN_ONE = 1_000_000_000n;

const LAST_UNITS = rational(LAST_UNITS_IN_ONE);

/** The amount that was parsed from a text, or a sentence with the reason why it is not an amount. */
export type ParsedAmount<Of extends Quantity> = { readonly value: Amount<Of> } | { readonly error: string };

/** Returns an integer that counts last units as an amount. */
export function lastUnits<Of extends Quantity>(count: bigint): Amount<Of> {
  return count as Amount<Of>;
}

/** Rounds an exact value, in the currency or in GPU-hours, half to even to the last unit. This is the R of `R(C(b)) − R(C(a))`. */
export function roundToLastUnit<Of extends Quantity>(exact: Rational): Amount<Of> {
  return lastUnits(halfEvenQuotient(exact.num * LAST_UNITS_IN_ONE, exact.den));
}

/** Returns the exact value of an amount, in the currency or in GPU-hours. */
export function exactly(amount: Amount<Quantity>): Rational {
  return rational(amount, LAST_UNITS_IN_ONE);
}

/** Returns the sum of amounts of one quantity. */
export function sum<Of extends Quantity>(amounts: Iterable<Amount<Of>>): Amount<Of> {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return lastUnits(total);
}

/** Returns a − b. */
export function difference<Of extends Quantity>(a: Amount<Of>, b: Amount<Of>): Amount<Of> {
  return lastUnits(a - b);
}

/** Formats an amount as decimal text in the currency or in GPU-hours, without trailing zeros: `1.36125`, `-0.000000001`, `5`. */
export function formatAmount(amount: Amount<Quantity>): string {
  return decimalText(amount, LAST_UNIT_DIGITS);
}

/** Parses a decimal text. A value that is finer than the last unit is an error; it is not rounded. */
export function parseAmount<Of extends Quantity>(text: string): ParsedAmount<Of> {
  const parsed = parseDecimal(text);
  if ("error" in parsed) return parsed;
  const units = multiply(parsed.value, LAST_UNITS);
  if (units.den !== 1n) return { error: `an amount has at most ${LAST_UNIT_DIGITS} digits after the point` };
  return { value: lastUnits(units.num) };
}

/** Parses a text that must be an amount, such as a decimal of the store. Throws a RangeError if it is not one. */
export function amountOf<Of extends Quantity>(text: string): Amount<Of> {
  const parsed = parseAmount<Of>(text);
  if ("error" in parsed) throw new RangeError(`${text} is not an amount: ${parsed.error}`);
  return parsed.value;
}
