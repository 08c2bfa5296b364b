import { accrualOf, type Accrual } from "../exact/accrual.ts";
import { add, divide, multiply, rational, smaller, subtract, ZERO, type Rational } from "../exact/rational.ts";
import type { OwnedTerms, PowerTerms } from "./book.ts";
import { millisAt, monthsAt } from "./month.ts";

const JOULES_IN_KWH = rational(3_600_000);

/**
 * What a machine of one's own has cost since an origin, without its power (ledger, "Prices"), in the entry's currency.
 * Depreciation is (purchase − residual) ÷ months for each UTC calendar month, pro rata in the first and the last, so that a
 * machine whose service begins when 2/5 of a month are over is written off when 2/5 of the last one are, at exactly
 * purchase − residual. The overhead goes on after that. Both end when it is retired, and the machine stays priced: its cost
 * is 0 from then on.
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

/** When a machine is written off: its months are over. */
export function writtenOffMillis({ inServiceMillis, months }: OwnedTerms): number {
  return millisAt(add(monthsAt(inServiceMillis), rational(months)));
}

/** Power that was used: what was measured, and the time of the machine in which nothing was. */
export interface PowerUsed {
  readonly joules: Rational;
  readonly unmeasuredMillis: Rational;
}

/**
 * What power costs, in the entry's currency: kWh × PUE × price, with the entry's watts for the time in which nothing was
 * measured (ledger, "Prices"). It is exact and adds up, so that the caller sums from the origin of the price and rounds
 * once.
 */
export function powerCost({ kWhPrice, pue, watts }: PowerTerms, { joules, unmeasuredMillis }: PowerUsed): Rational {
  const assumed = multiply(watts ?? ZERO, divide(unmeasuredMillis, rational(1000)));
  return multiply(divide(add(joules, assumed), JOULES_IN_KWH), multiply(pue, kWhPrice));
}
