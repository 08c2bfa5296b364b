import { readPeriod, type BillingPeriod } from "../../../domain/period.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";

/** A closed period and the closing that closed it. */
export interface ClosedPeriod {
  readonly period: BillingPeriod;
  readonly closeId: string;
  readonly closedBy: string;
  /** Milliseconds since the epoch. */
  readonly closedAt: number;
  /** The policies at the time of the closing, the billing policy first. They never change. */
  readonly policies: readonly Policy[];
}

/** The closed periods of the books. Periods close in order, so all periods before the last closed one are closed too. */
export interface Closed {
  /** Oldest first. */
  readonly periods: readonly ClosedPeriod[];
  /** The start of the oldest open billing period, milliseconds since the epoch; -Infinity if no period is closed. */
  readonly openSince: number;
}

/** Books without a closed period. */
export const NOTHING_CLOSED: Closed = { periods: [], openSince: -Infinity };

const CLOSED = `
SELECT formatDateTime(billing_period, '%Y-%m') AS name, toString(close_id) AS closeId, closed_by AS closedBy,
  toFloat64(toUnixTimestamp64Milli(closed_at)) AS closedAt, policies
FROM closings
WHERE kind = 'close' AND (billing_period, close_id) IN (SELECT billing_period, close_id FROM closed_periods)
ORDER BY billing_period
LIMIT 1 BY billing_period`;

interface ClosedRow extends Omit<ClosedPeriod, "period" | "policies"> {
  readonly name: string;
  readonly policies: string;
}

/** Reads the closed periods. Fails with a `StoreError`. */
export async function readClosed(store: StoreClient): Promise<Closed> {
  const rows = await store.query<ClosedRow>(CLOSED);
  const periods = rows.map(({ name, policies, ...row }): ClosedPeriod => ({
    ...row,
    period: readPeriod(name)!,
    policies: JSON.parse(policies) as readonly Policy[],
  }));
  return { periods, openSince: periods.at(-1)?.period.until ?? -Infinity };
}

/** Returns the closing that froze the hour of a time; undefined if the time is open. */
export function closingOf({ periods, openSince }: Closed, millis: number): ClosedPeriod | undefined {
  if (millis >= openSince) return undefined;
  return periods.find(({ period }) => millis < period.until);
}
