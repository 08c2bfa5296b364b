import { floorQuotient, halfEvenQuotient } from "../../domain/exact/integer.ts";
import type { Money } from "../../domain/exact/units.ts";

/** Digits after the point of unit prices and priced quantities at most. */
export const PRICE_DIGITS = 18;

/** The unit prices and the quantity of a row, in 10⁻¹⁸: each price times the quantity is the cost, to 10⁻⁹. */
export interface UnitPrices {
  readonly quantity: bigint;
  readonly list: bigint;
  readonly contracted: bigint;
}

/** What is priced: a quantity in 10⁻⁹ and its costs, which are sums of so many rounded lines. */
export interface Priced {
  readonly quantity: bigint;
  readonly lines: number;
  readonly list: Money;
  readonly contracted: Money;
}

/** A product of a price and a quantity counts 10⁻³⁶; so many of them are 10⁻⁹ of the currency. */
const LAST_UNIT = 10n ** 27n;
/** Prices are made to hold to half of what they must, so that no rounding of theirs takes them beyond it. */
const TOLERANCE = LAST_UNIT / 2n;
/** A line's cost and its hours are rounded in this many steps at most, by less than one last unit each. */
const ROUNDINGS = 4n;

/**
 * The unit prices of what stands alone, each the shortest decimal that holds. Undefined where none does: of no quantity, or where a
 * correction's quantity and cost have different signs, as FOCUS has no negative prices.
 */
export function ownPrices({ quantity, list, contracted }: Priced): UnitPrices | undefined {
  const priced = quantity * 10n ** 9n;
  const [ofList, ofContract] = [shortestPrice(list, priced), shortestPrice(contracted, priced)];
  return ofList === undefined || ofContract === undefined
    ? undefined
    : { quantity: priced, list: ofList, contracted: ofContract };
}

/**
 * The unit prices of a part: its origin's, where the part differs from them by no more than its lines were rounded, for a quantity
 * that is finer than the last unit, so that the products hold. Where list and contract were rounded apart, the list price is the
 * part's own; where the price differs within the origin, as power makes it, both are.
 */
export function partPrices(part: Priced, origin: UnitPrices | undefined): UnitPrices | undefined {
  if (origin === undefined || !isRounded(part, origin.contracted, part.contracted)) return ownPrices(part);
  const { list, contracted } = origin;
  const both = isRounded(part, list, part.list)
    ? quantityFor(part, [
        [list, part.list],
        [contracted, part.contracted],
      ])
    : undefined;
  if (both !== undefined) return { quantity: both, list, contracted };
  const quantity = quantityFor(part, [[contracted, part.contracted]]);
  const own = quantity === undefined ? undefined : shortestPrice(part.list, quantity);
  return quantity === undefined || own === undefined ? ownPrices(part) : { quantity, list: own, contracted };
}

/** Whether a cost differs from the price of the quantity by no more than the lines were rounded. */
function isRounded({ quantity, lines }: Priced, price: bigint, cost: Money): boolean {
  const difference = distance(price * quantity * 10n ** 9n, cost * LAST_UNIT);
  return difference <= BigInt(lines) * ROUNDINGS * (LAST_UNIT + price * 10n ** 9n);
}

/** The shortest decimal next to a quantity for which all products hold; undefined where there is none. */
function quantityFor(
  { quantity }: Priced,
  products: readonly (readonly [price: bigint, cost: Money])[],
): bigint | undefined {
  const hours = quantity * 10n ** 9n;
  let [least, most] = [undefined, undefined] as [bigint | undefined, bigint | undefined];
  for (const [price, cost] of products) {
    if (price === 0n) {
      if (cost !== 0n) return undefined;
      continue;
    }
    const from = -floorQuotient(TOLERANCE - cost * LAST_UNIT, price);
    const to = floorQuotient(cost * LAST_UNIT + TOLERANCE, price);
    if (least === undefined || from > least) least = from;
    if (most === undefined || to < most) most = to;
  }
  if (least === undefined || most === undefined || (least <= hours && hours <= most)) return hours;
  for (let digits = 9; digits <= PRICE_DIGITS; digits++) {
    const step = 10n ** BigInt(PRICE_DIGITS - digits);
    const next = hours < least ? ((least + step - 1n) / step) * step : (most / step) * step;
    if (least <= next && next <= most) return next;
  }
  return undefined;
}

/** The shortest decimal, in 10⁻¹⁸, whose product with a quantity is the cost; undefined where none is, or it would be negative. */
function shortestPrice(cost: Money, quantity: bigint): bigint | undefined {
  if (quantity === 0n) return cost === 0n ? 0n : undefined;
  const isNegative = quantity < 0n;
  const above = isNegative ? 0n - cost : cost;
  const below = isNegative ? -quantity : quantity;
  if (above < 0n) return undefined;
  for (let digits = 0; digits <= PRICE_DIGITS; digits++) {
    const rounded = halfEvenQuotient(above * 10n ** BigInt(9 + digits), below);
    const price = rounded * 10n ** BigInt(PRICE_DIGITS - digits);
    if (distance(price * below, above * LAST_UNIT) <= TOLERANCE) return price;
  }
  return undefined;
}

function distance(one: bigint, other: bigint): bigint {
  return one > other ? one - other : other - one;
}
