import { dateText, periodOf } from "../../domain/period.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import type { Span } from "../question/span.ts";

/** Returns a time for people: `2026-03-01 12:00:00 UTC`. */
export function utc(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Returns a span for people: `March 2026`, `2026-03-01 to 2026-03-07`, both days inclusive, `2026-03-01 12:00 to 2026-03-08 12:00 UTC`. */
export function spanTitle({ from, until }: Pick<Span, "from" | "until">): string {
  const month = periodOf(from);
  if (month.from === from && month.until === until)
    return new Date(from).toLocaleDateString("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });
  if (from % DAY_MILLIS !== 0 || until % DAY_MILLIS !== 0)
    return `${utc(from).slice(0, 16)} to ${utc(until).slice(0, 16)} UTC`;
  const [first, last] = [dateText(from), dateText(until - DAY_MILLIS)];
  return first === last ? first : `${first} to ${last}`;
}
