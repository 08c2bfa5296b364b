import type { EnergySegment } from "../energy/carbon.ts";
import type { Millis } from "../exact/part-of-span.ts";
import { add, divide, multiply, rational, ZERO, type Rational } from "../exact/rational.ts";
import type { OwnedEntry, PowerTerms } from "./book.ts";
import { ratePieces, type Rates } from "./conversion.ts";
import { powerCost } from "./owned.ts";

/**
 * Returns the exact power cost of one GPU of an owned machine over a span, in the book's currency. It covers the measured energy and, for
 * time without a measurement, the GPU's equal part of the machine's `watts` among the delivered GPUs. Each is converted at the rate of its
 * time (docs/energy.md). A segment that is partly in the span counts by time. Undefined if the entry has no price of power. A retired
 * machine uses no power.
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

/** Returns the power cost of the part of a segment that is in a span. */
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
