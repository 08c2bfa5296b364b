import type { PriceBook } from "./book.ts";

/** Returns the names of all machines that owned entries list. */
export function listedMachines({ prices }: Pick<PriceBook, "prices">): readonly string[] {
  return [...new Set(prices.flatMap((entry) => (entry.per === "owned" ? entry.owned.machines : [])))];
}

/** Returns whether an owned entry applies to all machines that it matches. Such machines are only known if they were seen. */
export function hasOwnedByMatch({ prices }: Pick<PriceBook, "prices">): boolean {
  return prices.some((entry) => entry.per === "owned" && entry.owned.machines.length === 0);
}

/** Returns true if a book has costs that belong to no cluster. */
export function hasFleetCosts({ prices, commitments, fixed }: PriceBook): boolean {
  return commitments.length + fixed.length > 0 || prices.some(({ per }) => per === "owned");
}
