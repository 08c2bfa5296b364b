import { accrualOf, type Accrual } from "../exact/accrual.ts";
import { add, multiply, ONE, subtract, ZERO, type Rational } from "../exact/rational.ts";
import type { ExchangeRate, PriceBook } from "./book.ts";

/** The parts of a book that conversion needs. */
export type Rates = Pick<PriceBook, "currency" | "rates">;

/** A rate and its start. The first rate of a list starts at the list's origin. */
export type RatePiece = Pick<ExchangeRate, "fromMillis" | "rate">;

/**
 * Returns the rates of a currency to the book's currency from an origin on, sorted by time. Charges are cut where a rate begins. Returns
 * one piece with rate 1 for the book's own currency. Throws a RangeError if no rate holds at the origin; reading a book rules that out for
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
  if (first === undefined) throw new RangeError(`no rate of ${currency} is valid at ${originMillis}`);
  return [
    { fromMillis: originMillis, rate: first.rate },
    ...known.filter(({ fromMillis }) => fromMillis > originMillis),
  ];
}

/**
 * Converts an accrual in a foreign currency to the book's currency. The amount incurred while a rate holds is converted at that rate,
 * before the single rounding (docs/prices.md). Returns the accrual itself if its currency is the book's.
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
