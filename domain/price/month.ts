import { add, multiply, rational, subtract, type Rational } from "../exact/rational.ts";
import { accrualOf, type Accrual } from "../exact/accrual.ts";

/**
 * Returns the exact number of UTC calendar months since the start of 1970: the whole months, and the elapsed part of the current one. It
 * grows by 1 in each month, however long the month is.
 */
export function monthsAt(millis: number): Rational {
  const date = new Date(millis);
  const whole = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  const begin = Date.UTC(1970, whole);
  return add(rational(whole), rational(millis - begin, Date.UTC(1970, whole + 1) - begin));
}

/**
 * Returns the first whole millisecond at which a number of calendar months has passed since the start of 1970: the inverse of
 * {@link monthsAt}.
 */
export function millisAt({ num, den }: Rational): number {
  const whole = Number(num / den);
  const begin = Date.UTC(1970, whole);
  const length = BigInt(Date.UTC(1970, whole + 1) - begin);
  return begin + Number(((num % den) * length + den - 1n) / den);
}

/** Creates an accrual of an amount per calendar month, spread evenly over the hours of each month, in the amount's currency. */
export function monthlyAccrual(perMonth: Rational, originMillis: number): Accrual<"currency"> {
  const origin = monthsAt(originMillis);
  return accrualOf(originMillis, (millis) => multiply(perMonth, subtract(monthsAt(millis), origin)));
}
