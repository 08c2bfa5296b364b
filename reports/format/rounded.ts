import { parseDecimal, roundedDecimal, type Rational } from "../../domain/exact/rational.ts";
import { roundTogether } from "../../domain/exact/round-together.ts";
import { formatAmount, LAST_UNIT_DIGITS, sum, type Amount, type Quantity } from "../../domain/exact/units.ts";
import { minorDigitsOf } from "../../domain/price/currency.ts";

/** Amounts rounded together to a unit in last units, with as many digits each, and their sum last: the column adds up. */
export function roundedColumn<Of extends Quantity>(amounts: readonly Amount<Of>[], unit: bigint): readonly string[] {
  const together = roundTogether(amounts, unit);
  const digits = LAST_UNIT_DIGITS - (String(unit).length - 1);
  return [...together, sum(together)].map((amount) => padded(formatAmount(amount), digits));
}

/** An exact amount of money rounded half to even to its currency's minor unit; "" for none. */
export function roundedMoney(amount: string | null, currency: string): string {
  return amount === null ? "" : roundedTo(amount, minorDigitsOf(currency) ?? 2);
}

/** An exact decimal rounded half to even to so many digits after the point, and with as many. */
export function roundedTo(amount: string, digits: number): string {
  const { value } = parseDecimal(amount) as { value: Rational };
  return padded(roundedDecimal(value, digits), digits);
}

/** Digits after the point for every amount of a column, so that their points stand under each other. */
function padded(amount: string, digits: number): string {
  const [whole, fraction = ""] = amount.split(".");
  return digits === 0 ? whole! : `${whole}.${fraction.padEnd(digits, "0")}`;
}

/** The minor unit of a currency, in last units. */
export function minorUnitOf(currency: string): bigint {
  return unitOf(minorDigitsOf(currency) ?? 2);
}

/** A unit of so many digits after the point, in last units. */
export function unitOf(digits: number): bigint {
  return 10n ** BigInt(LAST_UNIT_DIGITS - digits);
}

/** An amount with its sign, where it is not nothing. */
export function signed(amount: string): string {
  return amount.startsWith("-") || isZero(amount) ? amount : `+${amount}`;
}

/** Whether an amount's text says nothing but zero. */
export function isZero(amount: string): boolean {
  return /^-?[0.]*$/.test(amount);
}
