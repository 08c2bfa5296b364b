const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?Z)?$/;

/** What {@link instantOf} reads, for the sentences of errors. */
export const INSTANT_FORM = "a date such as 2026-03-01 (its midnight in UTC), or a time such as 2026-03-01T10:30:00Z";

/**
 * Milliseconds since the epoch of an ISO 8601 date (its midnight) or time in UTC; undefined for anything else, a day that
 * its month does not have and a time without its Z included.
 */
export function instantOf(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  const millis = Date.parse(text);
  if (Number.isNaN(millis)) return undefined;
  const written = text.length === 10 ? text : text.slice(0, -1);
  return new Date(millis).toISOString().startsWith(written) ? millis : undefined;
}
