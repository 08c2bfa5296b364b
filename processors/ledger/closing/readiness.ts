import { closesFrom, periodOf, type BillingPeriod } from "../../../domain/period.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { CLUSTER_LIVES, HOUR_COLUMNS, LIFE_COLUMNS, MADE_HOURS } from "../../../runtime/store/schema/hours.ts";
import { breachSentence, standingBreaches, type StandingBreach } from "../runs/breaches.ts";
import type { LedgerRules } from "../charging/rules.ts";
import { staleCharges } from "../hours/stale-hours.ts";
import { missingHours, type ClusterLife } from "../../../domain/charge/settling.ts";
import { byWindow, keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { CloseError, type CloseErrorCode } from "./close-error.ts";
import { provisionalSentence } from "./provisional.ts";
import { readClosed, type Closed } from "../closed/closed.ts";
import { hourOf } from "../../../domain/time.ts";

/** The objections to a close, if any. Each has a reason, most important first. */
export interface Readiness {
  readonly closed: Closed;
  readonly objections: readonly { readonly code: CloseErrorCode; readonly sentence: string }[];
  /** Hours that are not charged as they would be now, oldest first. */
  readonly unsettled: readonly WindowOfCluster[];
  readonly breaches: readonly StandingBreach[];
}

/** The rules that a close checks. */
export interface CloseRules {
  readonly rules: LedgerRules;
  readonly closingDay: number;
  /** True if the month may be closed before the exports of providers' bills have the number of an invoice. */
  readonly isProvisional?: boolean;
}

/** Checks whether a period can be closed at a time. Fails with a `StoreError`. */
export async function readReadiness(
  store: StoreClient,
  period: BillingPeriod,
  { rules, closingDay, isProvisional = false }: CloseRules,
  now: number,
): Promise<Readiness> {
  const closed = await readClosed(store);
  const begun = await firstCharged(store);
  const breaches = await standingBreaches(store, { from: 0, until: period.until });
  const unsettled = await readUnsettled(
    store,
    { ...period, until: Math.min(period.until, hourOf(now)) },
    rules,
    closed,
  );
  const { invoices } = rules.charge;
  const provisional =
    invoices === undefined || isProvisional ? undefined : await provisionalSentence(store, period, invoices);
  const objections = [
    notDue(period, closingDay, now),
    alreadyClosed(period, closed),
    begun === undefined || begun >= period.until ? nothingCharged(period) : undefined,
    earlierOpen(period, closed, begun),
    breach(breaches),
    notSettled(period, unsettled),
    provisional === undefined ? undefined : { code: "provisional" as const, sentence: provisional },
  ];
  return { closed, objections: objections.filter((objection) => objection !== undefined), unsettled, breaches };
}

/** Throws a {@link CloseError} for the first objection. */
export function refuseUnlessReady({ objections: [first] }: Readiness): void {
  if (first !== undefined) throw new CloseError(first.code, first.sentence);
}

/** Returns when the first charged hour began; undefined if no hour was charged. Fails with a `StoreError`. */
export async function firstCharged(store: StoreClient): Promise<number | undefined> {
  const [row] = await store.query<{ first: number; runs: string }>(
    "SELECT toFloat64(toUnixTimestamp(min(window_start))) * 1000 AS first, count() AS runs FROM runs WHERE kind = 'charge'",
  );
  return row === undefined || row.runs === "0" ? undefined : row.first;
}

type Objection = Readiness["objections"][number] | undefined;

function notDue(period: BillingPeriod, closingDay: number, now: number): Objection {
  const from = closesFrom(period, closingDay);
  if (now >= from) return undefined;
  const [until, due] = [period.until, from].map((millis) => new Date(millis).toISOString().slice(0, 10));
  const over = now < period.until ? `has not ended: it ends with ${until}, and` : "has ended, and";
  return { code: "not-due", sentence: `${period.name} ${over} can be closed from ${due} on (closing.day)` };
}

function alreadyClosed(period: BillingPeriod, { periods, openSince }: Closed): Objection {
  const own = periods.find((one) => one.period.from === period.from);
  if (own !== undefined) {
    const at = new Date(own.closedAt).toISOString();
    return {
      code: "already-closed",
      sentence: `${period.name} is closed: ${own.closedBy} closed it at ${at}. Later changes become corrections in the open period`,
    };
  }
  if (period.from >= openSince) return undefined;
  const last = periods.at(-1)!.period.name;
  return { code: "already-closed", sentence: `${period.name} is closed with ${last}: periods close in order` };
}

function nothingCharged({ name }: BillingPeriod): Objection {
  return { code: "nothing-charged", sentence: `${name} has no charges: no hour up to its end was charged` };
}

function earlierOpen(period: BillingPeriod, { openSince }: Closed, begun: number | undefined): Objection {
  if (begun === undefined) return undefined;
  const oldest = periodOf(Math.max(begun, openSince));
  if (oldest.from >= period.from) return undefined;
  return { code: "earlier-open", sentence: `${oldest.name} is open: periods close in order, so close it first` };
}

function breach(breaches: readonly StandingBreach[]): Objection {
  const sentence = breachSentence(breaches);
  return sentence === undefined ? undefined : { code: "breach", sentence };
}

const NAMED = 3;

function notSettled({ name }: BillingPeriod, unsettled: readonly WindowOfCluster[]): Objection {
  if (unsettled.length === 0) return undefined;
  const named = unsettled
    .slice(0, NAMED)
    .map(({ cluster, windowStart }) => `${cluster} ${new Date(windowStart).toISOString()}`);
  const more = unsettled.length > NAMED ? ", …" : "";
  const count = unsettled.length === 1 ? "1 hour is" : `${unsettled.length} hours are`;
  return {
    code: "unsettled",
    sentence: `${name} is not ready: ${count} not charged with the current usage, prices, owners and policies (${named.join(", ")}${more}). The leading processor charges them: check that it runs and has this configuration`,
  };
}

/**
 * Reads the hours up to the end of a period that are not charged, or corrected, as they would be now: hours that were not metered after
 * their end, and hours with stale charges. Hours whose charges would be corrected count too, because this period books the corrections.
 */
async function readUnsettled(
  store: StoreClient,
  period: BillingPeriod,
  rules: LedgerRules,
  closed: Closed,
): Promise<readonly WindowOfCluster[]> {
  const parameters = { from: period.from, until: period.until, absentAfter: rules.absentAfterMillis };
  const [lives, metered] = await Promise.all([
    store.query<ClusterLife>(`SELECT ${LIFE_COLUMNS} FROM ${CLUSTER_LIVES}`, parameters),
    store.query<WindowOfCluster>(`SELECT ${HOUR_COLUMNS} FROM ${MADE_HOURS} WHERE is_metered`, parameters),
  ]);
  const span = { from: -Infinity, until: period.until, openSince: closed.openSince };
  const stale = (await staleCharges(store, rules, span)).map(({ cluster, windowStart }) => ({ cluster, windowStart }));
  const all = new Map([...missingHours(lives, metered, period), ...stale].map((window) => [keyOf(window), window]));
  return [...all.values()].toSorted(byWindow);
}
