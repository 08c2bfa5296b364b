import { accrualOf, type Accrual } from "../exact/accrual.ts";
import { add, multiply, ONE, subtract, ZERO, type Rational } from "../exact/rational.ts";
import type { ExchangeRate, PriceBook } from "./book.ts";

/** Of a book, what conversion needs. */
export type Rates = Pick<PriceBook, "currency" | "rates">;

/** A rate and from when on it holds; the first of a list from the list's own origin on. */
export type RatePiece = Pick<ExchangeRate, "fromMillis" | "rate">;

/**
 * The rates of a currency to the book's from an origin on, by time: charges are cut where one begins. One piece of 1 for
 * the book's own currency. Fails with a RangeError where no rate holds at the origin, which reading a book rules out for
 * its entries.
 */
export function ratePieces(
  { currency: own, rates }: Rates,
  currency: string,
  originMillis: number,
): readonly RatePiece[] {
  if (currency === own) return [{ fromMillis: originMillis, rate: ONE }];
  const known = rates.filter((rate) => rate.currency === currency);
  const first = known.findLast(({ fromMillis }) => fromMillis <= originMillis);
  if (first === undefined) throw new RangeError(`no rate of ${currency} holds at ${originMillis}`);
  return [
    { fromMillis: originMillis, rate: first.rate },
    ...known.filter(({ fromMillis }) => fromMillis > originMillis),
  ];
}

/**
 * An accrual in a foreign currency as one in the book's: what is incurred while a rate holds is converted at it, before the one
 * rounding (ledger, "Prices"). The accrual itself where its currency is the book's.
 */
export function converted(accrual: Accrual<"currency">, currency: string, book: Rates): Accrual<"currency"> {
  if (currency === book.currency) return accrual;
  const { originMillis } = accrual;
  let total: Rational = ZERO;
  let previous: { at: Rational; rate: Rational } | undefined;
  const pieces = ratePieces(book, currency, originMillis).map(({ fromMillis, rate }) => {
    const at = accrual.exactAt(fromMillis);
    if (previous !== undefined) total = add(total, multiply(previous.rate, subtract(at, previous.at)));
    previous = { at, rate };
    return { fromMillis, rate, at, total };
  });
  return accrualOf(originMillis, (millis) => {
    const piece = pieces.findLast(({ fromMillis }) => fromMillis <= millis);
    if (piece === undefined) return ZERO;
    return add(piece.total, multiply(piece.rate, subtract(accrual.exactAt(millis), piece.at)));
  });
}
