import { parseDecimal, roundedDecimal, type Rational } from "../../domain/exact/rational.ts";
import { roundTogether } from "../../domain/exact/round-together.ts";
import {
  difference,
  formatAmount,
  LAST_UNIT_DIGITS,
  sum,
  type Amount,
  type Quantity,
} from "../../domain/exact/units.ts";
import { minorDigitsOf } from "../../domain/price/currency.ts";

/** Rounds amounts together to a unit in last units, with equal numbers of digits, and adds their sum at the end: the column adds up. */
export function roundedColumn<Of extends Quantity>(amounts: readonly Amount<Of>[], unit: bigint): readonly string[] {
  return withSum(roundTogether(amounts, unit), unit);
}

/**
 * Returns the differences of two columns as {@link roundedColumn} prints them, with the difference of their sums at the end: a printed change is the
 * printed amount minus the printed earlier one, in each row and in the sum.
 */
export function roundedChanges<Of extends Quantity>(
  amounts: readonly Amount<Of>[],
  earlier: readonly Amount<Of>[],
  unit: bigint,
): readonly string[] {
  const before = roundTogether(earlier, unit);
  const changes = roundTogether(amounts, unit).map((amount, index) => difference(amount, before[index]!));
  return withSum(changes, unit);
}

/** Returns multiples of a unit as texts with equal numbers of digits, with their sum at the end. */
function withSum<Of extends Quantity>(amounts: readonly Amount<Of>[], unit: bigint): readonly string[] {
  const digits = LAST_UNIT_DIGITS - (String(unit).length - 1);
  return [...amounts, sum(amounts)].map((amount) => padded(formatAmount(amount), digits));
}

/** Rounds an exact amount of money half to even to its currency's minor unit; "" for null. */
export function roundedMoney(amount: string | null, currency: string): string {
  return amount === null ? "" : roundedTo(amount, minorDigitsOf(currency) ?? 2);
}

/** Rounds an exact decimal half to even to `digits` digits after the point. The result has all of these digits. */
export function roundedTo(amount: string, digits: number): string {
  const { value } = parseDecimal(amount) as { value: Rational };
  return padded(roundedDecimal(value, digits), digits);
}

/** Pads every amount of a column to the same number of digits after the point. */
function padded(amount: string, digits: number): string {
  const [whole, fraction = ""] = amount.split(".");
  return digits === 0 ? whole! : `${whole}.${fraction.padEnd(digits, "0")}`;
}

/** Returns the minor unit of a currency, in last units. */
export function minorUnitOf(currency: string): bigint {
  return unitOf(minorDigitsOf(currency) ?? 2);
}

/** Returns a unit of `digits` digits after the point, in last units. */
export function unitOf(digits: number): bigint {
  return 10n ** BigInt(LAST_UNIT_DIGITS - digits);
}

/** Returns an amount with its sign, except for zero. */
export function signed(amount: string): string {
  return amount.startsWith("-") || isZero(amount) ? amount : `+${amount}`;
}

/** Returns true if the text of an amount is zero. */
export function isZero(amount: string): boolean {
  return /^-?[0.]*$/.test(amount);
}
