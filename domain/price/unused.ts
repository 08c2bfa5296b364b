import { incurredIn } from "../exact/accrual.ts";
import { divide, multiply, ONE, rational, smaller, subtract } from "../exact/rational.ts";
import { difference, exactly, lastUnits, roundToLastUnit, type Money } from "../exact/units.ts";
import type { StandingEntry } from "./book.ts";
import type { Rates } from "./conversion.ts";
import { standingCost } from "./cost.ts";

/** The usage in an entry's scope over a time: the GPU-milliseconds of existing GPUs, and their effective cost. */
export interface TakenUp {
  readonly gpuMillis: number;
  readonly cost: Money;
}

/** Returns the part of a span in which an entry holds; undefined if it does not hold in the span. */
export function heldOf(
  { fromMillis, untilMillis }: StandingEntry,
  span: { readonly from: number; readonly until: number },
): { readonly from: number; readonly until: number } | undefined {
  const [from, until] = [Math.max(fromMillis, span.from), Math.min(untilMillis, span.until)];
  return from < until ? { from, until } : undefined;
}

/**
 * Returns the unused part of a commitment or a fixed cost over a span in which it holds (docs/prices.md), in the book's currency, never
 * negative. An entry for a quantity of GPUs is used by GPUs that exist, because their own prices bear it. A spend commitment is used by the
 * cost of its scope. A fixed cost without a quantity is never used.
 */
export function unusedOf(
  entry: StandingEntry,
  kind: "commitment" | "fixed",
  { from, until }: { readonly from: number; readonly until: number },
  { gpuMillis, cost }: TakenUp,
  book: Rates,
): Money {
  const due = incurredIn(standingCost(entry, book), from, until);
  if (entry.quantity !== undefined) {
    const used = smaller(ONE, divide(rational(gpuMillis, until - from), entry.quantity));
    return roundToLastUnit(multiply(exactly(due), subtract(ONE, used)));
  }
  if (kind === "fixed") return due;
  return due > cost ? difference(due, cost) : lastUnits(0n);
}
