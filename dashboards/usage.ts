import { among } from "./ledger.ts";

/** The results of the meter, before any policy. */
export const USAGE = "usage_hours_published";

/** The duration of a row in milliseconds. */
export const MILLIS = "toUnixTimestamp64Milli(until_at) - toUnixTimestamp64Milli(from_at)";

/** The condition for rows of the newest metered hour within the dashboard's time: the state of each GPU, without reading weeks. */
export const NEWEST = `from_at >= toDateTime(newest, 'UTC') AND from_at < toDateTime(newest, 'UTC') + toIntervalHour(1) AND ${among("cluster")}`;

/** The beginning of a query that contains {@link NEWEST}. */
export const WITH_NEWEST = `WITH (SELECT max(window_start) FROM runs WHERE kind = 'usage' AND $__timeFilter(window_start) AND ${among("cluster")}) AS newest`;
