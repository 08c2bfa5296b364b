import { HOURS_OF_DAY, HOUR_MILLIS } from "../time.ts";

/** Hours of a week in UTC: 0 is the first hour of Monday, 167 the last one of Sunday. */
export type WeekHours = ReadonlySet<number>;

/** The number of hours in a week. */
export const HOURS_OF_WEEK = 168;

/** The form that {@link readWeekHours} accepts, for error messages. */
export const WEEK_HOURS_FORM = "hours of the week in UTC, such as 20-7, or mon-fri 20-7, sat-sun";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;

/** Returns the hour of the week in UTC that contains a time, milliseconds since the epoch. */
export function weekHourOf(millis: number): number {
  return (Math.floor(millis / HOUR_MILLIS) + FIRST_WEEKDAY * HOURS_OF_DAY) % HOURS_OF_WEEK;
}

/**
 * Parses hours of the week: parts with commas between them, each with days, hours, or both. `20-7` are the hours from 20:00 to 07:00 of
 * every day. In `mon-fri 20-7` each hour belongs to its own day, so Monday has 00:00 to 07:00 and 20:00 to 24:00. Undefined for any other
 * text.
 */
export function readWeekHours(text: string): WeekHours | undefined {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [, days, hours] = /^(?:([a-z]{3}(?:-[a-z]{3})?)(?: |$))?(\d{1,2}-\d{1,2})?$/.exec(part.trim()) ?? [];
    if (days === undefined && hours === undefined) return undefined;
    const ofDays = days === undefined ? DAYS.map((_, day) => day) : daysOf(days);
    const ofHours = hours === undefined ? cycle(0, HOURS_OF_DAY, HOURS_OF_DAY) : hoursOf(hours);
    if (ofDays === undefined || ofHours === undefined) return undefined;
    for (const day of ofDays) for (const hour of ofHours) found.add(day * HOURS_OF_DAY + hour);
  }
  return found;
}

/** Formats hours of the week as {@link readWeekHours} parses them: days with equal hours are one part for each stretch of hours. */
export function weekHoursText(hours: WeekHours): string {
  const ofDay = DAYS.map((_, day) => stretchesOf(hours, day));
  const parts: string[] = [];
  for (const stretch of new Set(ofDay.flat())) {
    const days = DAYS.flatMap((_, day) => (ofDay[day]!.includes(stretch) ? [day] : []));
    for (const [first, last] of runsOf(days)) {
      const named = first === last ? DAYS[first]! : `${DAYS[first]}-${DAYS[last]}`;
      const isEveryDay = first === 0 && last === DAYS.length - 1;
      parts.push(stretch === "" ? named : isEveryDay ? stretch : `${named} ${stretch}`);
    }
  }
  return parts.join(", ");
}

/** Returns the stretches of a day's hours as texts: `20-7` over midnight, and an empty text for the whole day. */
function stretchesOf(hours: WeekHours, day: number): readonly string[] {
  const own = Array.from({ length: HOURS_OF_DAY }, (_, hour) => hour).filter((hour) =>
    hours.has(day * HOURS_OF_DAY + hour),
  );
  const runs = runsOf(own);
  const [first] = runs;
  const last = runs.at(-1);
  if (first === undefined || last === undefined) return [];
  if (first[0] === 0 && first[1] === HOURS_OF_DAY - 1) return [""];
  const isOverMidnight = runs.length > 1 && first[0] === 0 && last[1] === HOURS_OF_DAY - 1;
  const plain = (isOverMidnight ? runs.slice(1, -1) : runs).map(([from, to]) => `${from}-${to + 1}`);
  return isOverMidnight ? [`${last[0]}-${first[1] + 1}`, ...plain] : plain;
}

/** Returns the first and the last of each run of adjacent numbers. */
function runsOf(sorted: readonly number[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const each of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === each - 1) last[1] = each;
    else runs.push([each, each]);
  }
  return runs;
}

function daysOf(text: string): readonly number[] | undefined {
  const [first, last = first] = text.split("-").map((day) => DAYS.indexOf(day)) as [number, number?];
  return first < 0 || last < 0 ? undefined : cycle(first, last + 1, DAYS.length);
}

function hoursOf(text: string): readonly number[] | undefined {
  const [from, until] = text.split("-").map(Number) as [number, number];
  return from >= HOURS_OF_DAY || until > HOURS_OF_DAY || from === until ? undefined : cycle(from, until, HOURS_OF_DAY);
}

/** Returns the numbers from one to before another, over the end of a cycle if the other is not larger. */
function cycle(from: number, until: number, length: number): readonly number[] {
  const count = until > from ? until - from : until - from + length;
  return Array.from({ length: count }, (_, index) => (from + index) % length);
}
