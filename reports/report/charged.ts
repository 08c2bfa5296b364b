import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";
import type { Span } from "../question/span.ts";

/** The charged part of a span. Times are milliseconds since the epoch. */
export interface ChargedPart {
  /** The beginning of the first hour that was ever charged. */
  readonly since: number;
  /** The end of the charged part. For the current hour, the time of its charges. */
  readonly until: number;
  /** The end of the last hour with charges. */
  readonly hoursUntil: number;
}

/**
 * SQL for the charged hours, with their billing period and the end of each one's charged part, in milliseconds. Charges that were made
 * before the end of an hour do not cover its rest. If a run is no longer in `runs` and only a closing names it, its hour counts as
 * complete.
 */
export const CHARGED_HOURS = `(
  SELECT window_start, billing_period, toFloat64(toUnixTimestamp(window_start)) * 1000 + 3600000 AS hour_end,
    if(toUnixTimestamp64Milli(published_at) = 0, hour_end, least(hour_end, toFloat64(toUnixTimestamp64Milli(published_at)))) AS charged_until
  FROM charge_runs
  LEFT JOIN (SELECT run_id, max(published_at) AS published_at FROM runs WHERE kind = 'charge' GROUP BY run_id) AS published
    ON charge_runs.run_id = published.run_id
  WHERE kind = 'charge')`;

const IN_SPAN = `window_start >= ${momentSql("from")} AND window_start < ${momentSql("until")}`;
const CHARGED = `
SELECT toFloat64(toUnixTimestamp(min(window_start))) * 1000 AS since, maxIf(charged_until, ${IN_SPAN}) AS until,
  maxIf(hour_end, ${IN_SPAN}) AS hoursUntil
FROM ${CHARGED_HOURS}`;

/** Reads the charged part of a span; undefined if nothing is charged. Fails with a `StoreError`. */
export async function readCharged(
  store: Pick<StoreClient, "query">,
  { from, until }: Pick<Span, "from" | "until">,
): Promise<ChargedPart | undefined> {
  const [row] = await store.query<ChargedPart>(CHARGED, { from, until });
  return row === undefined || row.hoursUntil <= from ? undefined : row;
}
