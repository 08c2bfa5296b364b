import type { CostKind } from "./book.ts";

/**
 * Returns a result for each of the three amounts. If amounts are equal, as for a price without a discount, the result is computed once:
 * most charges have three equal amounts.
 */
export function perKind<Amount, Made>(
  amounts: Readonly<Record<CostKind, Amount>>,
  make: (amount: Amount) => Made,
): Readonly<Record<CostKind, Made>> {
  const list = make(amounts.list);
  const contracted = amounts.contracted === amounts.list ? list : make(amounts.contracted);
  const effective = amounts.effective === amounts.contracted ? contracted : make(amounts.effective);
  return { list, contracted, effective };
}
