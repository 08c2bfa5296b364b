import { dateText, periodOf } from "../../domain/period.ts";
import { DAY_MILLIS, dayOf, isoText } from "../../domain/time.ts";

/** Some file systems have no names over 255 bytes. */
const MOST_LETTERS = 100;

/**
 * Returns the name of a file of a time: `charges-by-team-2026-03.csv` of a month, `-2026-03-14` of a day, `-2026-03-01-to-2026-03-14` of whole days
 * with the last one, `-2026-03-01T06Z-to-2026-03-01T18Z` of hours.
 */
export function fileName(
  what: string,
  time: { readonly from: number; readonly until: number },
  ending: string,
): string {
  return `${what.replaceAll(/[^\w-]/g, "_").slice(0, MOST_LETTERS)}-${timeText(time)}.${ending}`;
}

function timeText({ from, until }: { readonly from: number; readonly until: number }): string {
  const period = periodOf(from);
  if (from === period.from && until === period.until) return period.name;
  if (from !== dayOf(from) || until !== dayOf(until)) return `${hourText(from)}-to-${hourText(until)}`;
  const [first, last] = [dateText(from), dateText(until - DAY_MILLIS)];
  return first === last ? first : `${first}-to-${last}`;
}

function hourText(millis: number): string {
  return `${isoText(millis).slice(0, 13)}Z`;
}
