import { periodOf, readPeriod } from "../../domain/period.ts";
import { DAY_MILLIS, HOUR_MILLIS, dayOf, hourOf } from "../../domain/time.ts";

const WEEK_MILLIS = 7 * DAY_MILLIS;
/** The first Monday of the epoch, its fifth day: 1970 began on a Thursday. */
const FIRST_MONDAY_MILLIS = 4 * DAY_MILLIS;

/** The time of a report: milliseconds since the epoch, half-open, whole UTC hours. */
export interface Span {
  /** The requested text: `2026-03`, `2026-03-01/2026-03-08`, `7d`. */
  readonly name: string;
  readonly from: number;
  readonly until: number;
}

/** The forms that {@link readSpan} reads, for error messages. */
export const SPAN_FORM =
  "a month (2026-03), a day (2026-03-14), whole UTC hours from/until (2026-03-01/2026-03-15, 2026-03-01T06:00Z/2026-03-01T18:00Z), 36h, 7d, today, yesterday, week, lastweek, month or lastmonth";

/**
 * Returns the span that a text names at a time, or a sentence with the error. The end of `from/until` is exclusive. Hours and days back end
 * with the current hour. The current day, week (from Monday) and month are whole, in UTC.
 */
export function readSpan(text: string, nowMillis: number): { readonly span: Span } | { readonly error: string } {
  const bounds = boundsOf(text, nowMillis);
  if (bounds === undefined) return { error: `${JSON.stringify(text)} is not ${SPAN_FORM}` };
  const [from, until] = bounds;
  if (from % HOUR_MILLIS !== 0 || until % HOUR_MILLIS !== 0)
    return { error: `${text}: the times must be whole hours, because charges are per hour` };
  if (from >= until) return { error: `${text}: the end must be after the beginning` };
  return { span: { name: text, from, until } };
}

/** Returns the span of the same length that ends at the beginning of this one. For months, it has the same number of months. */
export function spanBefore({ from, until }: Span): Span {
  const months = monthsIn({ from, until });
  const begin =
    months.length > 0
      ? Date.UTC(new Date(from).getUTCFullYear(), new Date(from).getUTCMonth() - months.length, 1)
      : from - (until - from);
  return { name: spanText({ from: begin, until: from }), from: begin, until: from };
}

/** Returns a part of the time before a span with the length of the span's charged part, in whole hours. */
export function partBefore(span: Span, chargedUntil: number): Span {
  const { from, until } = spanBefore(span);
  const part = { from, until: Math.min(until, from + (chargedUntil - span.from)) };
  return chargedUntil >= span.until
    ? { from, until, name: spanText({ from, until }) }
    : { ...part, name: spanText(part) };
}

/** Returns the first days of the months of a span; empty if the span does not consist of whole months. */
export function monthsIn({ from, until }: Pick<Span, "from" | "until">): readonly number[] {
  const months: number[] = [];
  let at = from;
  while (at < until && periodOf(at).from === at) {
    months.push(at);
    at = periodOf(at).until;
  }
  return at === until ? months : [];
}

/** Returns a span in a form that {@link readSpan} reads the same at any time. */
export function spanText({ from, until }: Pick<Span, "from" | "until">): string {
  const month = periodOf(from);
  return month.from === from && month.until === until ? month.name : `${timeText(from)}/${timeText(until)}`;
}

function timeText(millis: number): string {
  const iso = new Date(millis).toISOString();
  return millis % DAY_MILLIS === 0 ? iso.slice(0, 10) : `${iso.slice(0, 16)}Z`;
}

function boundsOf(text: string, now: number): readonly [number, number] | undefined {
  const month = readPeriod(text);
  if (month !== undefined) return [month.from, month.until];
  const [first = "", second, ...more] = text.split("/");
  if (second !== undefined) {
    const [from, until] = [momentOf(first), momentOf(second)];
    return from === undefined || until === undefined || more.length > 0 ? undefined : [from, until];
  }
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? momentOf(text) : undefined;
  return day === undefined ? relativeTo(now, text) : [day, day + DAY_MILLIS];
}

function relativeTo(now: number, text: string): readonly [number, number] | undefined {
  const hourEnd = hourOf(now) + HOUR_MILLIS;
  const today = dayOf(now);
  const week = today - ((today - FIRST_MONDAY_MILLIS) % WEEK_MILLIS);
  const month = periodOf(now);
  switch (text) {
    case "today":
      return [today, today + DAY_MILLIS];
    case "yesterday":
      return [today - DAY_MILLIS, today];
    case "week":
      return [week, week + WEEK_MILLIS];
    case "lastweek":
      return [week - WEEK_MILLIS, week];
    case "month":
      return [month.from, month.until];
    case "lastmonth":
      return [periodOf(month.from - 1).from, month.from];
  }
  const [, count, unit] = /^([1-9]\d{0,3})([hd])$/.exec(text) ?? [];
  return count === undefined
    ? undefined
    : [hourEnd - Number(count) * (unit === "h" ? HOUR_MILLIS : DAY_MILLIS), hourEnd];
}

/** Reads `2026-03-01`, or a UTC time of it with at least minutes. A day that does not exist is refused. */
function momentOf(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/.test(text)) return undefined;
  const millis = Date.parse(text);
  if (Number.isNaN(millis) || new Date(millis).toISOString().slice(0, 10) !== text.slice(0, 10)) return undefined;
  return millis;
}
