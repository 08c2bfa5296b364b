import { amountOf, formatAmount, lastUnits, type Quantity } from "../../../domain/exact/units.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

const HOUR_MILLIS = 3_600_000n;

/** What a team has cost in the month that runs. Amounts are decimal texts in the currency and in GPU-hours. */
export interface TeamMonth {
  readonly team: string;
  readonly cost: string;
  readonly gpuHours: string;
  /** GPU-hours for which no price is visible. */
  readonly unpricedGpuHours: string;
  /** Cost of an hour, as the last 24 hours were. */
  readonly perHour: string;
  /** Cost of the whole month, if it goes on as the last 24 hours did; null as long as hours of it wait to be charged. */
  readonly forecast: string | null;
}

/** The month to date under the billing policy, the dearest team first. */
export interface MonthToDate {
  /** `2026-03`. */
  readonly month: string;
  readonly total: TeamMonth;
  readonly teams: readonly TeamMonth[];
}

/** The same month before its hours are charged: what it will have cost is not known. */
export function withoutForecast({ month, total, teams }: MonthToDate): MonthToDate {
  return { month, total: { ...total, forecast: null }, teams: teams.map((team) => ({ ...team, forecast: null })) };
}

/** The running month, kept up to date: only hours that were charged anew are read. */
export interface Month {
  /** Reads what was charged anew. */
  refresh(nowMillis: number): Promise<MonthToDate>;
  /** As far as it is known; undefined where nothing was read of that month. */
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

/** A month of which nothing is known yet, under the policy of that name. */
export function createMonth(store: Pick<StoreClient, "query">, policy: string): Month {
  /** The hours that are booked in the month; those of corrections began before it. */
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
      // Nothing is known before all of it is read: what fails is asked again.
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

/** Until when the hour that runs is charged: of a large fleet not until now, and what is unknown of it must not lower its burn rate. */
function chargedUntil(runs: readonly RunOfHour[], now: number): number {
  const running = runs.filter(({ start }) => start <= now && now < start + Number(HOUR_MILLIS));
  return running.length === 0 ? now : Math.min(now, Math.max(...running.map(({ chargedAt }) => chargedAt)));
}

/** The month to date from its hours: burn rates are of the last 24 hours, as far as they are of this month. */
export function monthToDate(hours: readonly Omit<KnownHour, "run">[], now: number): MonthToDate {
  const since = monthOf(now);
  const first = Math.min(now, ...hours.map(({ start }) => start));
  const recent = Math.max(since, first, now - DAY_MILLIS);
  // An hour counts whole where it begins within the last 24: what is known of it is what has passed of it.
  const recentFrom = Math.ceil(recent / Number(HOUR_MILLIS)) * Number(HOUR_MILLIS);
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
      perHour: formatAmount(lastUnits<Quantity>((sum.recent * HOUR_MILLIS) / elapsed)),
      forecast: formatAmount(lastUnits<Quantity>(sum.cost + (sum.recent * left) / elapsed)),
    };
  };
  const names = [...sums.keys()].filter((name) => name !== TOTAL);
  const order = names.toSorted((a, b) => compare(sums.get(b)!.cost, sums.get(a)!.cost) || (a < b ? -1 : 1));
  return { month: new Date(since).toISOString().slice(0, 7), total: shown(TOTAL), teams: order.map(shown) };
}

/** No team is called so: names of teams are not empty. */
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
