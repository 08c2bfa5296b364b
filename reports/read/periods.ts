import { closesFrom, periodOf, readPeriod, type BillingPeriod } from "../../domain/period.ts";
import { isoText } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { CHARGED_HOURS } from "../report/charged.ts";

/** A billing period in the current ledger. Times are ISO 8601; amounts exact decimal texts, of the billing policy. */
export interface Period {
  readonly period: string;
  readonly from: string;
  readonly until: string;
  /** `running` until its end, `open` until it is closed, then `closed` permanently. */
  readonly status: "running" | "open" | "closed";
  /** The time from which it can be closed. */
  readonly closesFrom: string;
  /** The time until which it is charged. For the current hour, the time of its charges. Null if nothing is charged. */
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

const CHARGED = `
SELECT formatDateTime(billing_period, '%Y-%m') AS period, max(charged_until) AS until
FROM ${CHARGED_HOURS} GROUP BY billing_period ORDER BY billing_period`;

const CLOSED = `
SELECT formatDateTime(billing_period, '%Y-%m') AS period, closed_by AS by, formatDateTime(closed_at, '%Y-%m-%dT%H:%i:%SZ', 'UTC') AS at,
  why, hash, toString(effective_cost) AS cost, toString(posted) AS posted
FROM closings
WHERE kind = 'close' AND (billing_period, close_id) IN (SELECT billing_period, close_id FROM closed_periods)`;

/** Reads every billing period with charges, and the running one, newest first. Fails with a `StoreError`. */
export async function readPeriods(
  store: Pick<StoreClient, "query">,
  { closingDay, now }: { readonly closingDay: number; readonly now: number },
): Promise<readonly Period[]> {
  const [charged, closings] = await Promise.all([
    store.query<{ readonly period: string; readonly until: number }>(CHARGED),
    store.query<{ readonly period: string } & NonNullable<Period["closed"]>>(CLOSED),
  ]);
  const chargedUntil = new Map(charged.map(({ period, until }) => [period, until]));
  const closingOf = new Map(closings.map(({ period, ...closing }) => [period, closing]));
  const names = new Set([...chargedUntil.keys(), periodOf(now).name]);
  return [...names]
    .toSorted((a, b) => (a < b ? 1 : -1))
    .map((name) => {
      const period = readPeriod(name)!;
      const chargedTo = chargedUntil.get(name);
      const closed = closingOf.get(name) ?? null;
      return {
        period: name,
        from: isoText(period.from),
        until: isoText(period.until),
        status: statusOf(period, closed !== null, now),
        closesFrom: isoText(closesFrom(period, closingDay)),
        chargedUntil: chargedTo === undefined ? null : isoText(chargedTo),
        closed,
      };
    });
}

function statusOf({ until }: BillingPeriod, isClosed: boolean, now: number): Period["status"] {
  if (isClosed) return "closed";
  return now < until ? "running" : "open";
}
