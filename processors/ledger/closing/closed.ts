import { readPeriod, type BillingPeriod } from "../../../domain/period.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";

/** A period that somebody closed, and what it was closed by. */
export interface ClosedPeriod {
  readonly period: BillingPeriod;
  readonly closeId: string;
  readonly closedBy: string;
  /** Milliseconds since the epoch. */
  readonly closedAt: number;
  /** The policies as they were, the billing one first: they stay. */
  readonly policies: readonly Policy[];
}

/** What is closed of the books. Periods close in their order, so that all before the last closed one are closed too. */
export interface Closed {
  /** The oldest first. */
  readonly periods: readonly ClosedPeriod[];
  /** The beginning of the oldest billing period that is open, milliseconds since the epoch; -Infinity where none was closed. */
  readonly openSince: number;
}

/** Books of which nothing is closed. */
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

/** What is closed by now. Fails with a `StoreError`. */
export async function readClosed(store: StoreClient): Promise<Closed> {
  const rows = await store.query<ClosedRow>(CLOSED);
  const periods = rows.map(({ name, policies, ...row }): ClosedPeriod => ({
    ...row,
    period: readPeriod(name)!,
    policies: JSON.parse(policies) as readonly Policy[],
  }));
  return { periods, openSince: periods.at(-1)?.period.until ?? -Infinity };
}

/** The closing that froze a time's hour; undefined for a time that is open. */
export function closingOf({ periods, openSince }: Closed, millis: number): ClosedPeriod | undefined {
  if (millis >= openSince) return undefined;
  return periods.find(({ period }) => millis < period.until);
}
