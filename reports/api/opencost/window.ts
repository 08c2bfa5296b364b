import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS, dayOf } from "../../../domain/time.ts";

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: MINUTE_MILLIS,
  h: HOUR_MILLIS,
  d: DAY_MILLIS,
  w: 7 * DAY_MILLIS,
};
/** 1970 began on a Thursday; the first Sunday was its fourth day. OpenCost's weeks begin on Sunday. */
const FIRST_SUNDAY_MILLIS = 3 * DAY_MILLIS;

/** A window, milliseconds since the epoch, half-open; whole UTC hours, as charges are. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** What {@link readWindow} reads. */
export const WINDOW_FORM =
  "today, yesterday, week, month, lastweek, lastmonth, a duration such as 7d, or two times with a comma, RFC 3339 or in seconds";

/**
 * Reads a window as OpenCost's API does (its `window` parameter): a word, a duration that ends with the unit that runs, or two times. It is
 * widened to whole hours. Undefined where it is none, or has no length.
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
    // A week ends with the day that runs.
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

/** Reads a duration as Go and OpenCost write it: `24h`, `1h30m`, `7d`, `week`. Undefined where it is none. */
export function readDuration(text: string): number | undefined {
  const word = { hour: HOUR_MILLIS, day: DAY_MILLIS, week: 7 * DAY_MILLIS }[text];
  if (word !== undefined) return word;
  if (!/^(\d{1,6}[smhdw])+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)([smhdw])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
}

/** What sets of allocations are added up to: none, all of the window, or calendar units. */
export type Accumulate = "none" | "all" | "hour" | "day" | "week" | "month" | "quarter";

/** Reads OpenCost's `accumulate`: a truth, or a unit. Undefined where it is neither. */
export function readAccumulate(text: string): Accumulate | undefined {
  const lower = text.toLowerCase();
  if (["", "false", "0", "none"].includes(lower)) return "none";
  if (["true", "1", "all"].includes(lower)) return "all";
  return (["hour", "day", "week", "month", "quarter"] as const).find((unit) => unit === lower);
}

/** The bounds of the sets that a window is cut into: one more than there are sets. */
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
