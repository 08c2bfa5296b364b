import { add, multiply, rational, subtract, type Rational } from "../exact/rational.ts";
import { accrualOf, type Accrual } from "../exact/accrual.ts";

/**
 * UTC calendar months since 1970 began, exact: the whole ones, and of the running one the part that has passed. It grows by
 * 1 in each month, however long that is.
 */
export function monthsAt(millis: number): Rational {
  const date = new Date(millis);
  const whole = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  const begin = Date.UTC(1970, whole);
  return add(rational(whole), rational(millis - begin, Date.UTC(1970, whole + 1) - begin));
}

/** The first whole millisecond by which so many calendar months have passed since 1970 began: the inverse of {@link monthsAt}. */
export function millisAt({ num, den }: Rational): number {
  const whole = Number(num / den);
  const begin = Date.UTC(1970, whole);
  const length = BigInt(Date.UTC(1970, whole + 1) - begin);
  return begin + Number(((num % den) * length + den - 1n) / den);
}

/** Months between two times, exact. */
export function monthsBetween(fromMillis: number, untilMillis: number): Rational {
  return subtract(monthsAt(untilMillis), monthsAt(fromMillis));
}

/**
 * What so much a calendar month comes to, spread evenly over the hours of each (ledger, "Prices"), in the amount's
 * currency.
 */
export function monthlyAccrual(perMonth: Rational, originMillis: number): Accrual<"currency"> {
  const origin = monthsAt(originMillis);
  return accrualOf(originMillis, (millis) => multiply(perMonth, subtract(monthsAt(millis), origin)));
}
