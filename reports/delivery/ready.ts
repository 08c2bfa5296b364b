import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import { dateText } from "../../domain/period.ts";
import type { ConfiguredDelivery } from "../../runtime/config/deliveries.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { CLUSTER_LIVES, HOUR_COLUMNS, LIFE_COLUMNS, MADE_HOURS } from "../../runtime/store/schema/hours.ts";
import { STANDING_BREACHES } from "../../runtime/store/schema/runs.ts";
import { missingHours, type ClusterLife } from "../../domain/charge/settling.ts";
import type { WindowOfCluster } from "../../domain/charge/window-of-cluster.ts";
import { FLEET } from "../../domain/charge/fleet.ts";
import { hasFleetCosts } from "../../domain/price/fleet-costs.ts";
import type { UnpricedTeam } from "../focus/plan.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";
import { monthsIn, type Span } from "../question/span.ts";
import { questionOf } from "./delivery.ts";

/** The time in which the ledger must have published nothing of a span. An hour waits at most five minutes for late data. */
const QUIET_MILLIS = 600_000;

/** SQL for the time when the ledger last published anything of a span, and last charged a later hour; 0 if it has not. */
const PUBLISHED = `
SELECT toFloat64(toUnixTimestamp64Milli(maxIf(published_at, window_start < until))) AS within,
  toFloat64(toUnixTimestamp64Milli(maxIf(published_at, window_start >= until AND kind = 'charge'))) AS after
FROM (SELECT *, fromUnixTimestamp64Milli({until:Int64}) AS until FROM runs)
WHERE kind IN ('rollup', 'usage', 'charge', 'correction') AND window_start >= fromUnixTimestamp64Milli({from:Int64})`;

const CLOSED =
  "SELECT toString(billing_period) AS month FROM closed_periods WHERE billing_period IN {months:Array(Date)}";

/**
 * Returns the reason why the delivery of a span is not made yet, in a sentence; undefined if there is none. A span is settled when three
 * conditions hold. Each of its hours, of every cluster with known objects, was charged after the end of the hour and after the meter last
 * published it. The ledger has charged later hours for ten minutes. In that time it has published no hour of the span: a ledger that
 * catches up takes the newest hours first and does not know the hours before. The check needs only the store. Hours that are stale after a
 * change of prices or owners are not considered. A span with a breach that stands is not settled, either. Fails with a `StoreError`.
 */
export async function obstacleTo(
  store: StoreClient,
  delivery: ConfiguredDelivery,
  span: Span,
  ledger: Ledger,
): Promise<string | undefined> {
  const unready = await unreadyBecause(store, delivery.waitFor, span, ledger);
  if (unready !== undefined || delivery.allowUnpriced) return unready;
  return unpricedReason(await readUnpriced(store, questionOf(delivery, span, ledger)));
}

async function unreadyBecause(
  store: StoreClient,
  waitFor: ConfiguredDelivery["waitFor"],
  span: Span,
  ledger: Ledger,
): Promise<string | undefined> {
  switch (waitFor) {
    case "settled":
      return unsettledBecause(store, span, ledger);
    case "closed":
      return openBecause(store, span);
    case "nothing":
      return undefined;
  }
}

async function unsettledBecause(
  store: StoreClient,
  { name, from, until }: Span,
  { absentAfterMillis: absentAfter, book }: Ledger,
): Promise<string | undefined> {
  const [published] = await store.query<{ readonly within: number; readonly after: number }>(PUBLISHED, {
    from,
    until,
  });
  const { within = 0, after = 0 } = published ?? {};
  if (after === 0) return `no hour after ${name} is charged yet: the ledger may be behind`;
  if (after < within + QUIET_MILLIS) return `${name} was partly charged in the last 10 minutes: more charges may come`;
  const parameters = { from, until, absentAfter };
  const [lives, charged] = await Promise.all([
    store.query<ClusterLife>(`SELECT ${LIFE_COLUMNS} FROM ${CLUSTER_LIVES}`, parameters),
    store.query<WindowOfCluster>(`SELECT ${HOUR_COLUMNS} FROM ${MADE_HOURS} WHERE is_charged`, parameters),
  ]);
  const all = hasFleetCosts(book) ? [...lives, ...fleetOf(lives)] : lives;
  const [first] = missingHours(all, charged, { from, until });
  if (first === undefined) return brokenBecause(store, name, { from, until });
  const cluster = first.cluster === FLEET ? "costs without a cluster" : first.cluster;
  return `not every hour of ${name} is charged yet: the first such hour is ${new Date(first.windowStart).toISOString()} of ${cluster}`;
}

/** Returns a sentence about the nodes that the bill of a span lacks because their hours are not exact or not computed. */
async function brokenBecause(
  store: StoreClient,
  name: string,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<string | undefined> {
  const [found] = await store.query<{ readonly breaches: number; readonly node: string }>(
    `SELECT toFloat64(count()) AS breaches, toString(any(node)) AS node ${STANDING_BREACHES}`,
    { from: Math.floor(from / 1000), until: Math.ceil(until / 1000) },
  );
  if (found === undefined || found.breaches === 0) return undefined;
  return `the charges of ${name} lack ${found.node || "some costs"}: \`gpu-ledger check\` has the hour and the reason`;
}

/** Returns the life of the fleet: costs of no cluster are charged in every hour in which any cluster has charges. */
function fleetOf(lives: readonly ClusterLife[]): readonly ClusterLife[] {
  if (lives.length === 0) return [];
  const [begun, over] = [Math.min(...lives.map((life) => life.begun)), Math.max(...lives.map((life) => life.over))];
  return [{ cluster: FLEET, begun, over }];
}

async function openBecause(store: StoreClient, span: Span): Promise<string | undefined> {
  const months = monthsIn(span).map(dateText);
  const closed = new Set((await store.query<{ month: string }>(CLOSED, { months })).map(({ month }) => month));
  const open = months.find((month) => !closed.has(month));
  return open === undefined ? undefined : `${open.slice(0, 7)} is not closed`;
}

/** Returns the part of a question without a price, by team. Fails with a `StoreError`. */
export async function readUnpriced(store: StoreClient, question: ChargesQuestion): Promise<readonly UnpricedTeam[]> {
  const { where, parameters } = sqlOf(question);
  const rows = await store.query<{ readonly team: string; readonly lines: number; readonly hours: string }>(
    `SELECT team, toFloat64(count()) AS lines, toString(sum(gpu_hours)) AS hours FROM charges_published
     WHERE ${where} AND effective_cost IS NULL GROUP BY team ORDER BY team`,
    parameters,
  );
  return rows.map(({ team, lines, hours }) => ({ team, lines, gpuHours: formatAmount(amountOf<"gpu-hour">(hours)) }));
}

/** Returns a sentence about the teams without a price; undefined if everything has one. */
export function unpricedReason(teams: readonly UnpricedTeam[]): string | undefined {
  if (teams.length === 0) return undefined;
  const hours = formatAmount(sum(teams.map(({ gpuHours }) => amountOf<"gpu-hour">(gpuHours))));
  const named = teams.map(({ team, gpuHours }) => `${team} ${gpuHours}`).join(", ");
  return `without a price: ${hours} GPU-hours (${named}); set allowUnpriced to deliver the file without them`;
}
