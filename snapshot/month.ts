import { lastUnits, type Money } from "../domain/exact/units.ts";
import { MONTH_HOURS } from "../domain/time.ts";

/** Returns the cost of a month at the pace of an hour. */
export function monthOf(hour: Money): Money {
  return lastUnits(hour * BigInt(MONTH_HOURS));
}
