import type { EnergySegment } from "../energy/carbon.ts";
import type { Millis } from "../exact/part-of-span.ts";
import { add, divide, multiply, rational, ZERO, type Rational } from "../exact/rational.ts";
import type { OwnedEntry, PowerTerms } from "./book.ts";
import { ratePieces, type Rates } from "./conversion.ts";
import { powerCost } from "./owned.ts";

/**
 * What the power of one GPU of an owned machine costs over a span, exact, in the book's currency: what was measured of it, and for
 * the time in which nothing was its equal part of the machine's `watts` among the GPUs that were delivered, each converted at the
 * rate of its time (ledger, "Prices"). Of a segment that is not all in the span counts what is, by time. Undefined where the entry
 * has no price of power; a machine that is retired uses none.
 */
export function powerOfGpu(
  { owned, currency }: OwnedEntry,
  segments: readonly EnergySegment[],
  { span, delivered }: { readonly span: Millis; readonly delivered: number },
  book: Rates,
): Rational | undefined {
  const { power, retiredMillis } = owned;
  if (power === undefined) return undefined;
  const { watts } = power;
  const terms = watts === undefined ? power : { ...power, watts: divide(watts, rational(delivered)) };
  const end = Math.min(span.untilMillis, retiredMillis);
  const pieces = ratePieces(book, currency, span.fromMillis);
  let total: Rational = ZERO;
  pieces.forEach(({ fromMillis, rate }, index) => {
    const untilMillis = Math.min(end, pieces[index + 1]?.fromMillis ?? Infinity);
    for (const segment of segments)
      total = add(total, multiply(rate, powerWithin(terms, segment, { fromMillis, untilMillis })));
  });
  return total;
}

/** What a segment costs as far as it lies in a span. */
function powerWithin(terms: PowerTerms, segment: EnergySegment, span: Millis): Rational {
  const { fromMillis, untilMillis, energy } = segment;
  const inside = Math.min(untilMillis, span.untilMillis) - Math.max(fromMillis, span.fromMillis);
  if (inside <= 0) return ZERO;
  const part = rational(inside, untilMillis - fromMillis);
  return powerCost(terms, {
    joules: multiply(part, rational(energy.millijoules, 1000)),
    unmeasuredMillis: multiply(part, rational(untilMillis - fromMillis - energy.coveredMillis)),
  });
}
