/** A minute in milliseconds. */
export const MINUTE_MILLIS = 60_000;

/** An hour in milliseconds. */
export const HOUR_MILLIS = 3_600_000;

/** An hour in milliseconds, for exact arithmetic. */
export const EXACT_HOUR_MILLIS = 3_600_000n;

/** A day of 24 hours in milliseconds: a UTC day. */
export const DAY_MILLIS = 86_400_000;

/** The hours of a UTC day. */
export const HOURS_OF_DAY = 24;

/** The hours of a month, as clouds count them. */
export const MONTH_HOURS = 730;

/** The largest time, milliseconds since the epoch: the year 2262, which is the limit of the store's times. */
export const LAST_MILLIS = 9_223_372_036_854;

/** Returns the start of the UTC hour that contains the time. Both are milliseconds since the epoch. */
export function hourOf(millis: number): number {
  return Math.floor(millis / HOUR_MILLIS) * HOUR_MILLIS;
}

/** Returns the start of the UTC day that contains the time. Both are milliseconds since the epoch. */
export function dayOf(millis: number): number {
  return Math.floor(millis / DAY_MILLIS) * DAY_MILLIS;
}

/** A time in ISO 8601 with milliseconds: `2026-03-01T00:00:00.000Z`. */
export function isoText(millis: number): string {
  return new Date(millis).toISOString();
}

/** A time as people read it: a UTC midnight as `2026-03-01`, any other time in ISO 8601. */
export function momentText(millis: number): string {
  return new Date(millis)
    .toISOString()
    .replace(/\.000Z$/, "Z")
    .replace(/T00:00:00Z$/, "");
}
