import { PERIOD_FORM, readPeriod, type BillingPeriod } from "../domain/period.ts";
import { CommandError } from "./context.ts";

/** Returns the period of an argument. Fails with a sentence if the argument is not a period. */
export function periodOfArgument(name: string): BillingPeriod {
  const period = readPeriod(name);
  if (period === undefined) throw new CommandError(`${name}: a billing period must be ${PERIOD_FORM}`, 2);
  return period;
}
