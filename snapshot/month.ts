import { lastUnits, type Money } from "../domain/exact/units.ts";

/** The hours of a month, as clouds count them. */
const MONTH_HOURS = 730n;

/** Returns the cost of a month at the pace of an hour. */
export function monthOf(hour: Money): Money {
  return lastUnits(hour * MONTH_HOURS);
}
