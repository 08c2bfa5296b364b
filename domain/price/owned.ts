import { accrualOf, type Accrual } from "../exact/accrual.ts";
import { add, divide, multiply, rational, smaller, subtract, ZERO, type Rational } from "../exact/rational.ts";
import type { OwnedTerms, PowerTerms } from "./book.ts";
import { millisAt, monthsAt } from "./month.ts";

const JOULES_IN_KWH = rational(3_600_000);

/**
 * Creates the accrual of an owned machine's cost since an origin, without its power (docs/prices.md), in the entry's currency. Depreciation
 * is (purchase − residual) ÷ months for each UTC calendar month, pro rata in the first and the last. A machine whose service begins when
 * 2/5 of a month are over is written off when 2/5 of the last month are over, at exactly purchase − residual. The overhead continues after
 * that. Both end when the machine is retired. The machine stays priced, with a cost of 0 from then on.
 */
export function ownedAccrual(terms: OwnedTerms, originMillis: number): Accrual<"currency"> {
  const { purchase, residual, months, overheadPerMonth, inServiceMillis, retiredMillis } = terms;
  const depreciation = divide(subtract(purchase, residual), rational(months));
  const begin = monthsAt(Math.max(originMillis, inServiceMillis));
  const writtenOff = add(monthsAt(inServiceMillis), rational(months));
  const depreciated = smaller(begin, writtenOff);
  return accrualOf(originMillis, (millis) => {
    const until = Math.min(millis, retiredMillis);
    if (until <= Math.max(originMillis, inServiceMillis)) return ZERO;
    const end = monthsAt(until);
    return add(
      multiply(depreciation, subtract(smaller(end, writtenOff), depreciated)),
      multiply(overheadPerMonth, subtract(end, begin)),
    );
  });
}

/** Returns when a machine is written off, milliseconds since the epoch: at the end of its months of depreciation. */
export function writtenOffMillis({ inServiceMillis, months }: OwnedTerms): number {
  return millisAt(add(monthsAt(inServiceMillis), rational(months)));
}

/** Used power: the measured energy, and the machine's time without a measurement. */
export interface PowerUsed {
  readonly joules: Rational;
  readonly unmeasuredMillis: Rational;
}

/**
 * Returns the power cost in the entry's currency: kWh × PUE × price, with the entry's watts for the time without a measurement
 * (docs/energy.md). It is exact and additive, so the caller sums from the origin of the price and rounds once.
 */
export function powerCost({ kWhPrice, pue, watts }: PowerTerms, { joules, unmeasuredMillis }: PowerUsed): Rational {
  const assumed = multiply(watts ?? ZERO, divide(unmeasuredMillis, rational(1000)));
  return multiply(divide(add(joules, assumed), JOULES_IN_KWH), multiply(pue, kWhPrice));
}
