import { among } from "./ledger.ts";

/** What the meter found, before any policy. */
export const USAGE = "usage_hours_published";

/** For how many milliseconds a row is of its GPU. */
export const MILLIS = "toUnixTimestamp64Milli(until_at) - toUnixTimestamp64Milli(from_at)";

/** Rows of the newest hour that was metered within the dashboard's time: what each GPU was and did, without reading weeks of it. */
export const NEWEST = `from_at >= toDateTime(newest, 'UTC') AND from_at < toDateTime(newest, 'UTC') + toIntervalHour(1) AND ${among("cluster")}`;

/** The beginning of a question that has {@link NEWEST} in it. */
export const WITH_NEWEST = `WITH (SELECT max(window_start) FROM runs WHERE kind = 'usage' AND $__timeFilter(window_start) AND ${among("cluster")}) AS newest`;
