/** A time span, milliseconds since the epoch, half-open. */
export interface Millis {
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/**
 * Returns the amount within a part of a span over which a non-negative amount is spread evenly, in whole units. It is the amount up to the
 * part's end minus the amount up to its start, each rounded down, so that adjacent parts sum to the whole.
 */
export function partOfSpan<Count extends bigint>(amount: Count, span: Millis, part: Millis): Count {
  const length = BigInt(span.untilMillis - span.fromMillis);
  const upTo = (millis: number): bigint => (amount * BigInt(millis - span.fromMillis)) / length;
  return (upTo(part.untilMillis) - upTo(part.fromMillis)) as Count;
}
