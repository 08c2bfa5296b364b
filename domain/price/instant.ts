const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?Z)?$/;

/** The form that {@link instantOf} accepts, for error messages. */
export const INSTANT_FORM = "a date such as 2026-03-01 (its midnight in UTC), or a time such as 2026-03-01T10:30:00Z";

/**
 * Parses an ISO 8601 date (its midnight) or time in UTC to milliseconds since the epoch. Undefined for anything else, also for a day that
 * its month does not have and for a time without Z.
 */
export function instantOf(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  const millis = Date.parse(text);
  if (Number.isNaN(millis)) return undefined;
  const written = text.length === 10 ? text : text.slice(0, -1);
  return new Date(millis).toISOString().startsWith(written) ? millis : undefined;
}
