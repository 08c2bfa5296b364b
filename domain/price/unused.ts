import { incurredIn } from "../exact/accrual.ts";
import { divide, multiply, ONE, rational, smaller, subtract } from "../exact/rational.ts";
import { difference, exactly, lastUnits, roundToLastUnit, type Money } from "../exact/units.ts";
import type { StandingEntry } from "./book.ts";
import type { Rates } from "./conversion.ts";
import { standingCost } from "./cost.ts";

/** What there was in an entry's scope over a time: GPU-milliseconds that existed, and what they cost effectively. */
export interface TakenUp {
  readonly gpuMillis: number;
  readonly cost: Money;
}

/** The part of a span in which an entry holds; undefined where it does not. */
export function heldOf(
  { fromMillis, untilMillis }: StandingEntry,
  span: { readonly from: number; readonly until: number },
): { readonly from: number; readonly until: number } | undefined {
  const [from, until] = [Math.max(fromMillis, span.from), Math.min(untilMillis, span.until)];
  return from < until ? { from, until } : undefined;
}

/**
 * What no usage takes up of a commitment or a fixed cost over a span in which it holds (ledger, "Prices"), in the book's currency,
 * never negative. One for a quantity of GPUs is taken up by GPUs that exist, as their own prices bear it; a commitment to
 * spend is taken up by what its scope costs; a fixed cost without a quantity by nothing.
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
