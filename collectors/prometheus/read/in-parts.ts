import { SourceError } from "./source-error.ts";
import type { Span } from "./samples.ts";

/**
 * Reads a span as a whole, or in halves as long as the server refuses a part as too large. Parts begin at multiples of `shortestMillis` after
 * the begin of the span, in the order of time. Fails with a {@link SourceError}.
 */
export async function inParts(span: Span, shortestMillis: number, read: (part: Span) => Promise<void>): Promise<void> {
  try {
    await read(span);
  } catch (error) {
    const { fromMillis, untilMillis } = span;
    const half = Math.floor((untilMillis - fromMillis) / 2 / shortestMillis) * shortestMillis;
    if (!(error instanceof SourceError) || error.kind !== "limit" || half === 0) throw error;
    await inParts({ fromMillis, untilMillis: fromMillis + half }, shortestMillis, read);
    await inParts({ fromMillis: fromMillis + half, untilMillis }, shortestMillis, read);
  }
}
