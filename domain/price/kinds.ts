import type { CostKind } from "./book.ts";

/**
 * Something made of each of the three amounts. Where they are the same, as where a price has no discount, it is made once: most
 * charges are asked for three equal ones.
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
