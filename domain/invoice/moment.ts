import { DAY_MILLIS } from "../time.ts";

/** The forms that {@link readMoment} accepts, for error messages. */
export const MOMENT_FORM = "a time such as 2026-03-01T00:00:00Z, 2026-03-01 or 03/01/2026";

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/;
const AMERICAN = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:\s+(\d{1,2}):(\d\d)(?::(\d\d))?)?$/;
const MONTH = /^(\d{4})-?(0[1-9]|1[0-2])$/;
const NUMBER = { year: 1, month: 2, day: 3, hour: 4, minute: 5, second: 6, fraction: 7, zone: 8 } as const;

/**
 * Returns the time that a text of an export writes, in milliseconds since the epoch; undefined for another text. A time without a zone is
 * UTC. Forms: ISO 8601, with `T` or a blank, to the minute or finer (Oracle writes `2026-03-01T00:00Z`, BigQuery `2026-03-01 00:00:00 UTC`),
 * `2026-03-01`, and `03/01/2026`, the form of Azure's exports for enterprise agreements.
 * Source: https://learn.microsoft.com/azure/cost-management-billing/dataset-schema/cost-usage-details-ea.
 */
export function readMoment(text: string): number | undefined {
  const iso = ISO.exec(text);
  if (iso !== null) {
    const part = (name: keyof typeof NUMBER): number => Number(iso[NUMBER[name]] ?? 0);
    const millis = Math.trunc(Number(`0.${iso[NUMBER.fraction] ?? "0"}`) * 1_000 + 1e-6);
    const day = dayAt(part("year"), part("month"), part("day"));
    const time = timeOfDay(part("hour"), part("minute"), part("second"));
    if (day === undefined || time === undefined) return undefined;
    return day + time + millis - zoneMillis(iso[NUMBER.zone]);
  }
  const american = AMERICAN.exec(text);
  if (american === null) return undefined;
  const [month = 0, dayOfMonth = 0, year = 0, hour, minute, second] = american
    .slice(1)
    .map((each: string | undefined) => Number(each ?? 0));
  const day = dayAt(year, month, dayOfMonth);
  const time = timeOfDay(hour ?? 0, minute ?? 0, second ?? 0);
  return day === undefined || time === undefined ? undefined : day + time;
}

/** Returns the start of the day after a time: the end of a line whose last day is named. Both are milliseconds since the epoch. */
export function nextDay(millis: number): number {
  return (Math.floor(millis / DAY_MILLIS) + 1) * DAY_MILLIS;
}

/** Returns the half-open month that a text names as `202603` or `2026-03`; undefined for another text. */
export function readMonth(text: string): { readonly from: number; readonly until: number } | undefined {
  const match = MONTH.exec(text);
  if (match === null) return undefined;
  const [year, month] = [Number(match[1]), Number(match[2])];
  return { from: Date.UTC(year, month - 1, 1), until: Date.UTC(year, month, 1) };
}

/** Returns the start of a UTC day; undefined if the month has no such day. */
function dayAt(year: number, month: number, day: number): number | undefined {
  const millis = Date.UTC(year, month - 1, day);
  const date = new Date(millis);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? millis : undefined;
}

function timeOfDay(hour: number, minute: number, second: number): number | undefined {
  // 24:00:00 is the end of a day. A leap second counts as the next minute.
  if (hour > 24 || minute > 59 || second > 60) return undefined;
  return ((hour * 60 + minute) * 60 + second) * 1_000;
}

function zoneMillis(zone: string | undefined): number {
  if (zone === undefined || zone === "Z" || zone === "UTC") return 0;
  const digits = zone.replace(":", "");
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5));
  return (zone.startsWith("-") ? -minutes : minutes) * 60_000;
}
