/** A time, milliseconds since the epoch, half-open. */
export interface Millis {
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/**
 * What falls into a part of a span over which an amount, not negative, is spread evenly, in whole units: the amount up to the part's
 * end less the amount up to its beginning, each rounded down, so that parts that adjoin sum to the whole.
 */
export function partOfSpan<Count extends bigint>(amount: Count, span: Millis, part: Millis): Count {
  const length = BigInt(span.untilMillis - span.fromMillis);
  const upTo = (millis: number): bigint => (amount * BigInt(millis - span.fromMillis)) / length;
  return (upTo(part.untilMillis) - upTo(part.fromMillis)) as Count;
}
