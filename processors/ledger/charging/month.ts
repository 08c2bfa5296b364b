import { amountOf, formatAmount, lastUnits, type Quantity } from "../../../domain/exact/units.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { DAY_MILLIS, EXACT_HOUR_MILLIS, HOUR_MILLIS } from "../../../domain/time.ts";

/** A team's cost in the current month. Amounts are decimal texts in the currency and in GPU-hours. */
export interface TeamMonth {
  readonly team: string;
  readonly cost: string;
  readonly gpuHours: string;
  /** GPU-hours without a price. */
  readonly unpricedGpuHours: string;
  /** The cost per hour, from the last 24 hours. */
  readonly perHour: string;
  /** The cost of the whole month if it continues like the last 24 hours; null while hours of it wait to be charged. */
  readonly forecast: string | null;
}

/** The month to date under the billing policy, highest cost first. */
export interface MonthToDate {
  /** The name of the month: `2026-03`. */
  readonly month: string;
  readonly total: TeamMonth;
  readonly teams: readonly TeamMonth[];
}

/** Returns the same month without a forecast, for use while hours wait to be charged. */
export function withoutForecast({ month, total, teams }: MonthToDate): MonthToDate {
  return { month, total: { ...total, forecast: null }, teams: teams.map((team) => ({ ...team, forecast: null })) };
}

/** The current month, kept up to date. Only newly charged hours are read. */
export interface Month {
  /** Reads the newly charged hours. */
  refresh(nowMillis: number): Promise<MonthToDate>;
  /** Returns the month as read so far; undefined if nothing of that month was read. */
  known(nowMillis: number): MonthToDate | undefined;
}

interface HourOfTeam {
  readonly team: string;
  readonly cost: bigint;
  readonly gpuHours: bigint;
  readonly unpriced: bigint;
}

interface KnownHour {
  readonly run: string;
  readonly start: number;
  readonly teams: HourOfTeam[];
}

interface RunOfHour {
  readonly cluster: string;
  readonly start: number;
  readonly run: string;
  readonly chargedAt: number;
}

const RUNS = `
SELECT kind, cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS start,
  ${ofLastRun("toString(run_id)")} AS run,
  ${ofLastRun("toFloat64(toUnixTimestamp64Milli(published_at))")} AS chargedAt
FROM runs
WHERE kind IN ('charge', 'correction') AND billing_period = toDate(toDateTime({since:Int64}, 'UTC'))
GROUP BY kind, cluster, start`;

const SUMS = `
SELECT toString(run_id) AS run, team, toString(sum(ifNull(effective_cost, 0))) AS cost, toString(sum(gpu_hours)) AS hours,
  toString(sumIf(gpu_hours, effective_cost IS NULL)) AS unpriced
FROM charges
WHERE policy = {policy:String} AND billing_period = toDate(toDateTime({since:Int64}, 'UTC')) AND run_id IN {runs:Array(UUID)}
GROUP BY run_id, team`;

interface SumsRow {
  readonly run: string;
  readonly team: string;
  readonly cost: string;
  readonly hours: string;
  readonly unpriced: string;
}

/** Creates an empty month for a policy. */
export function createMonth(store: Pick<StoreClient, "query">, policy: string): Month {
  /** The hours that are booked in the month. Hours of corrections began before it. */
  const hours = new Map<string, KnownHour>();
  let month: number | undefined;
  let runs: readonly RunOfHour[] = [];
  const toDate = (now: number): MonthToDate => monthToDate([...hours.values()], chargedUntil(runs, now));
  return {
    known: (now) => (monthOf(now) === month ? toDate(now) : undefined),
    async refresh(now) {
      const since = monthOf(now);
      const published = await store.query<RunOfHour>(RUNS, { since: since / 1000 });
      const isKnown = ({ cluster, start, run }: RunOfHour): boolean =>
        month === since && hours.get(`${start} ${cluster}`)?.run === run;
      const changed = published.filter((run) => !isKnown(run));
      const sums = changed.length === 0 ? [] : await readSums(changed, since);
      // State changes only after everything was read. After a failure, the same hours are read again.
      if (month !== since) hours.clear();
      [month, runs] = [since, published];
      const byRun = new Map<string, KnownHour>();
      for (const { cluster, start, run } of changed) {
        const hour: KnownHour = { run, start, teams: [] };
        hours.set(`${start} ${cluster}`, hour);
        byRun.set(run, hour);
      }
      for (const { run, team, cost, hours: gpuHours, unpriced } of sums) {
        const amounts = { cost: amountOf(cost), gpuHours: amountOf(gpuHours), unpriced: amountOf(unpriced) };
        byRun.get(run)?.teams.push({ team, ...amounts });
      }
      return toDate(now);
    },
  };

  function readSums(changed: readonly RunOfHour[], since: number): Promise<readonly SumsRow[]> {
    return store.query<SumsRow>(SUMS, { policy, since: since / 1000, runs: changed.map(({ run }) => run) });
  }
}

/**
 * Returns until when the running hour is charged. In a large fleet that is earlier than now, and the missing time must not lower the burn
 * rate.
 */
function chargedUntil(runs: readonly RunOfHour[], now: number): number {
  const running = runs.filter(({ start }) => start <= now && now < start + HOUR_MILLIS);
  return running.length === 0 ? now : Math.min(now, Math.max(...running.map(({ chargedAt }) => chargedAt)));
}

/** Computes the month to date from its hours. Burn rates come from the part of the last 24 hours that is in this month. */
export function monthToDate(hours: readonly Omit<KnownHour, "run">[], now: number): MonthToDate {
  const since = monthOf(now);
  const first = Math.min(now, ...hours.map(({ start }) => start));
  const recent = Math.max(since, first, now - DAY_MILLIS);
  // An hour counts in full if it begins within the last 24 hours. For the running hour, the elapsed part counts.
  const recentFrom = Math.ceil(recent / HOUR_MILLIS) * HOUR_MILLIS;
  const elapsed = BigInt(Math.max(1, now - Math.min(recentFrom, now - 1)));
  const left = BigInt(endOf(now) - now);
  const sums = new Map<string, { cost: bigint; gpuHours: bigint; unpriced: bigint; recent: bigint }>();
  for (const { start, teams } of hours) {
    for (const { team, cost, gpuHours, unpriced } of teams) {
      for (const name of [team, TOTAL]) {
        const sum = sums.get(name) ?? { cost: 0n, gpuHours: 0n, unpriced: 0n, recent: 0n };
        sums.set(name, sum);
        sum.cost += cost;
        sum.gpuHours += gpuHours;
        sum.unpriced += unpriced;
        if (start >= recentFrom) sum.recent += cost;
      }
    }
  }
  const shown = (team: string): TeamMonth => {
    const sum = sums.get(team) ?? { cost: 0n, gpuHours: 0n, unpriced: 0n, recent: 0n };
    return {
      team,
      cost: formatAmount(lastUnits<Quantity>(sum.cost)),
      gpuHours: formatAmount(lastUnits<Quantity>(sum.gpuHours)),
      unpricedGpuHours: formatAmount(lastUnits<Quantity>(sum.unpriced)),
      perHour: formatAmount(lastUnits<Quantity>((sum.recent * EXACT_HOUR_MILLIS) / elapsed)),
      forecast: formatAmount(lastUnits<Quantity>(sum.cost + (sum.recent * left) / elapsed)),
    };
  };
  const names = [...sums.keys()].filter((name) => name !== TOTAL);
  const order = names.toSorted((a, b) => compare(sums.get(b)!.cost, sums.get(a)!.cost) || (a < b ? -1 : 1));
  return { month: new Date(since).toISOString().slice(0, 7), total: shown(TOTAL), teams: order.map(shown) };
}

/** The key of the total. Team names are never empty. */
const TOTAL = "";

function monthOf(millis: number): number {
  const date = new Date(millis);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function endOf(millis: number): number {
  const date = new Date(millis);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
