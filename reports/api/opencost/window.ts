import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS, dayOf } from "../../../domain/time.ts";

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: MINUTE_MILLIS,
  h: HOUR_MILLIS,
  d: DAY_MILLIS,
  w: 7 * DAY_MILLIS,
};
/** The first Sunday of the epoch, its fourth day: 1970 began on a Thursday. OpenCost's weeks begin on Sunday. */
const FIRST_SUNDAY_MILLIS = 3 * DAY_MILLIS;

/** A window, milliseconds since the epoch, half-open. It is in whole UTC hours, like charges. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** The forms that {@link readWindow} reads. */
export const WINDOW_FORM =
  "today, yesterday, week, month, lastweek, lastmonth, a duration such as 7d, or two times with a comma, RFC 3339 or in seconds";

/**
 * Reads a window like OpenCost's API (its `window` parameter): a word, a duration that ends with the current unit, or two times. The window
 * is widened to whole hours. Returns undefined if the text is not a window, or if the window is empty.
 */
export function readWindow(text: string, now: number): Window | undefined {
  const bounds = boundsOf(text.trim(), now);
  if (bounds === undefined || bounds.some((bound) => !Number.isFinite(bound))) return undefined;
  const start = Math.floor(bounds[0] / HOUR_MILLIS) * HOUR_MILLIS;
  const end = Math.ceil(bounds[1] / HOUR_MILLIS) * HOUR_MILLIS;
  return start < end && bounds[0] < bounds[1] ? { start, end } : undefined;
}

function boundsOf(text: string, now: number): readonly [number, number] | undefined {
  const today = dayOf(now);
  const sunday = today - ((today - FIRST_SUNDAY_MILLIS) % (7 * DAY_MILLIS));
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()];
  switch (text) {
    case "today":
      return [today, today + DAY_MILLIS];
    case "yesterday":
      return [today - DAY_MILLIS, today];
    case "week":
      return [sunday, now];
    case "lastweek":
      return [sunday - 7 * DAY_MILLIS, sunday];
    case "month":
      return [Date.UTC(year, month), now];
    case "lastmonth":
      return [Date.UTC(year, month - 1), Date.UTC(year, month)];
  }
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) {
    // A week ends with the current day.
    const rounding = unit === "w" ? DAY_MILLIS : UNITS[unit!]!;
    const end = Math.floor(now / rounding) * rounding + rounding;
    return [end - Number(count) * UNITS[unit!]!, end];
  }
  const [, from, until] = /^(\d{9,11})[,-](\d{9,11})$/.exec(text) ?? [];
  if (from !== undefined) return [Number(from) * 1_000, Number(until) * 1_000];
  const [first, second, ...more] = text.split(",");
  if (second === undefined || more.length > 0 || ![first!, second].every(isTime)) return undefined;
  return [Date.parse(first!), Date.parse(second)];
}

function isTime(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text);
}

/** Reads a duration in the form of Go and OpenCost: `24h`, `1h30m`, `7d`, `week`. Returns undefined if the text is not a duration. */
export function readDuration(text: string): number | undefined {
  const word = { hour: HOUR_MILLIS, day: DAY_MILLIS, week: 7 * DAY_MILLIS }[text];
  if (word !== undefined) return word;
  if (!/^(\d{1,6}[smhdw])+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)([smhdw])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
}

/** The unit to which sets of allocations are added up: none, all of the window, or a calendar unit. */
export type Accumulate = "none" | "all" | "hour" | "day" | "week" | "month" | "quarter";

/** Reads OpenCost's `accumulate`: a boolean or a unit. Returns undefined if the text is neither. */
export function readAccumulate(text: string): Accumulate | undefined {
  const lower = text.toLowerCase();
  if (["", "false", "0", "none"].includes(lower)) return "none";
  if (["true", "1", "all"].includes(lower)) return "all";
  return (["hour", "day", "week", "month", "quarter"] as const).find((unit) => unit === lower);
}

/** Returns the bounds of the sets of a window: one more than the number of sets. */
export function boundsOfSets(
  window: Window,
  stepMillis: number | undefined,
  accumulate: Accumulate,
): readonly number[] {
  if (accumulate === "all") return [window.start, window.end];
  if (accumulate === "none" && stepMillis === undefined) return [window.start, window.end];
  const bounds = [window.start];
  for (let at = window.start; at < window.end; bounds.push(at)) {
    const next = accumulate === "none" ? at + stepMillis! : endOfUnit(at, accumulate);
    at = Math.min(next, window.end);
  }
  return bounds;
}

function endOfUnit(at: number, unit: Exclude<Accumulate, "none" | "all">): number {
  const [year, month] = [new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()];
  switch (unit) {
    case "hour":
      return at + HOUR_MILLIS - (at % HOUR_MILLIS);
    case "day":
      return at + DAY_MILLIS - (at % DAY_MILLIS);
    case "week":
      return at + 7 * DAY_MILLIS - ((at - FIRST_SUNDAY_MILLIS) % (7 * DAY_MILLIS));
    case "month":
      return Date.UTC(year, month + 1);
    case "quarter":
      return Date.UTC(year, month - (month % 3) + 3);
  }
}
