import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql } from "../question/question.ts";
import type { Span } from "../question/span.ts";

/** What of a span is charged. Times are milliseconds since the epoch. */
export interface ChargedPart {
  /** When the first hour began that was ever charged. */
  readonly since: number;
  /** Until when the span is charged: of the hour that runs, until its charges were made. */
  readonly until: number;
  /** The end of the last hour of which anything is charged. */
  readonly hoursUntil: number;
}

/**
 * Hours that are charged, with their billing period and until when each of them is, in milliseconds: what was charged before an hour
 * was over says nothing of what came then. A run that nothing but its closing tells of is of an hour that was over.
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

/** What of a span is charged; undefined where nothing of it is. Fails with a `StoreError`. */
export async function readCharged(
  store: Pick<StoreClient, "query">,
  { from, until }: Pick<Span, "from" | "until">,
): Promise<ChargedPart | undefined> {
  const [row] = await store.query<ChargedPart>(CHARGED, { from, until });
  return row === undefined || row.hoursUntil <= from ? undefined : row;
}
