import { floorQuotient, halfEvenQuotient } from "../../domain/exact/integer.ts";
import type { Money } from "../../domain/exact/units.ts";

/** The maximum of digits after the point of unit prices and priced quantities. */
export const PRICE_DIGITS = 18;

/** The unit prices and the quantity of a row, in 10⁻¹⁸: each price times the quantity is the cost, to 10⁻⁹. */
export interface UnitPrices {
  readonly quantity: bigint;
  readonly list: bigint;
  readonly contracted: bigint;
}

/** A priced quantity in 10⁻⁹, with its costs, which are sums of `lines` rounded lines. */
export interface Priced {
  readonly quantity: bigint;
  readonly lines: number;
  readonly list: Money;
  readonly contracted: Money;
}

/** 10⁻⁹ of the currency in units of 10⁻³⁶. A product of a price and a quantity counts 10⁻³⁶. */
const LAST_UNIT = 10n ** 27n;
/** Half of the allowed error of prices, so that their rounding cannot exceed it. */
const TOLERANCE = LAST_UNIT / 2n;
/** The maximum of rounding steps of a line's cost and hours. Each error is less than one last unit. */
const ROUNDINGS = 4n;

/**
 * Returns the unit prices of a part without an origin, each the shortest matching decimal. Undefined if there is none: for a quantity of 0,
 * or if a correction's quantity and cost have different signs, because FOCUS has no negative prices.
 */
export function ownPrices({ quantity, list, contracted }: Priced): UnitPrices | undefined {
  const priced = quantity * 10n ** 9n;
  const [ofList, ofContract] = [shortestPrice(list, priced), shortestPrice(contracted, priced)];
  return ofList === undefined || ofContract === undefined
    ? undefined
    : { quantity: priced, list: ofList, contracted: ofContract };
}

/**
 * Returns the unit prices of a part: those of its origin, if the part differs from them by at most the rounding of its lines. The quantity
 * is then finer than the last unit, so that the products match. If list and contract were rounded differently, the list price is the part's
 * own. If the price differs within the origin, as with power, both are the part's own.
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

/** Returns true if a cost differs from the price of the quantity by at most the rounding of the lines. */
function isRounded({ quantity, lines }: Priced, price: bigint, cost: Money): boolean {
  const difference = distance(price * quantity * 10n ** 9n, cost * LAST_UNIT);
  return difference <= BigInt(lines) * ROUNDINGS * (LAST_UNIT + price * 10n ** 9n);
}

/** Returns the shortest decimal next to a quantity for which all products match; undefined if there is none. */
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

/** Returns the shortest decimal, in 10⁻¹⁸, whose product with a quantity is the cost; undefined if there is none or if it is negative. */
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
