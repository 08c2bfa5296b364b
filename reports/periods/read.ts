import { closesFrom, periodOf, readPeriod, type BillingPeriod } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** A billing period as the ledger stands. Times are ISO 8601; amounts exact decimal texts, of the billing policy. */
export interface Period {
  readonly period: string;
  readonly from: string;
  readonly until: string;
  /** `running` until it is over, `open` until somebody closes it, `closed` for good. */
  readonly status: "running" | "open" | "closed";
  /** From when on it can be closed. */
  readonly closesFrom: string;
  /** The end of its last hour that is charged; null where none is. */
  readonly chargedUntil: string | null;
  readonly closed: {
    readonly by: string;
    readonly at: string;
    readonly why: string;
    readonly hash: string;
    readonly cost: string;
    readonly posted: string;
  } | null;
}

const HOUR_MILLIS = 3_600_000;

const CHARGED = `
SELECT formatDateTime(billing_period, '%Y-%m') AS period, toFloat64(toUnixTimestamp(max(window_start))) * 1000 AS last
FROM charge_runs WHERE kind = 'charge' GROUP BY billing_period ORDER BY billing_period`;

const CLOSED = `
SELECT formatDateTime(billing_period, '%Y-%m') AS period, closed_by AS by, formatDateTime(closed_at, '%Y-%m-%dT%H:%i:%SZ', 'UTC') AS at,
  why, hash, toString(effective_cost) AS cost, toString(posted) AS posted
FROM closings
WHERE kind = 'close' AND (billing_period, close_id) IN (SELECT billing_period, close_id FROM closed_periods)`;

/** Every billing period that has charges, and the running one, the newest first. Fails with a `StoreError`. */
export async function readPeriods(
  store: Pick<StoreClient, "query">,
  { closingDay, now }: { readonly closingDay: number; readonly now: number },
): Promise<readonly Period[]> {
  const [charged, closings] = await Promise.all([
    store.query<{ readonly period: string; readonly last: number }>(CHARGED),
    store.query<{ readonly period: string } & NonNullable<Period["closed"]>>(CLOSED),
  ]);
  const lastOf = new Map(charged.map(({ period, last }) => [period, last]));
  const closingOf = new Map(closings.map(({ period, ...closing }) => [period, closing]));
  const names = new Set([...lastOf.keys(), periodOf(now).name]);
  return [...names]
    .toSorted((a, b) => (a < b ? 1 : -1))
    .map((name) => {
      const period = readPeriod(name)!;
      const last = lastOf.get(name);
      const closed = closingOf.get(name) ?? null;
      return {
        period: name,
        from: iso(period.from),
        until: iso(period.until),
        status: statusOf(period, closed !== null, now),
        closesFrom: iso(closesFrom(period, closingDay)),
        chargedUntil: last === undefined ? null : iso(last + HOUR_MILLIS),
        closed,
      };
    });
}

function statusOf({ until }: BillingPeriod, isClosed: boolean, now: number): Period["status"] {
  if (isClosed) return "closed";
  return now < until ? "running" : "open";
}

function iso(millis: number): string {
  return new Date(millis).toISOString();
}
