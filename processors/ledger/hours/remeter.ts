import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import { amountOf } from "../../../domain/exact/units.ts";
import { beginCharges } from "../charging/charge-window.ts";
import { chargedUsage } from "../charging/charged-nodes.ts";
import { readClosed } from "../closed/closed.ts";
import { meterWindow } from "../metering/meter.ts";
import { hasRawRows } from "../rollup/rollups.ts";
import { meterServing } from "../serving/meter-serving.ts";
import type { LedgerRules } from "../charging/rules.ts";
import { newRunId, type Run, type Watermark } from "../runs/runs.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";

/** A metered hour of an open period, with the input that its last runs had considered. */
export interface OpenHour extends WindowOfCluster {
  readonly generation: number;
  readonly usage: Watermark;
  readonly serving: Watermark;
}

type WrittenMark = Readonly<Record<string, string | number>>;

/**
 * Returns the metered hours of a span in open periods that have ended, oldest first. Hours whose raw rows have expired are left out: they
 * cannot be metered again. Fails with a `StoreError`.
 */
export async function openHours(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
  now: number,
): Promise<readonly OpenHour[]> {
  const { openSince } = await readClosed(store);
  const rows = await store.query<WindowOfCluster & Record<"usage" | "serving", WrittenMark> & { generation: string }>(
    `SELECT toString(runs.cluster) AS cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart,
       (SELECT toString(max(generation)) FROM runs) AS generation,
       ${ofLastRun("watermark", "kind = 'usage'")} AS usage, ${ofLastRun("watermark", "kind = 'serving'")} AS serving
     FROM runs
     WHERE kind IN ('usage', 'serving')
       AND window_start >= fromUnixTimestamp({from:Int64}) AND window_end <= fromUnixTimestamp({until:Int64})
     GROUP BY runs.cluster, window_start HAVING countIf(kind = 'usage') > 0
     ORDER BY window_start, runs.cluster`,
    { from: Math.max(0, from, openSince) / 1000, until: Math.floor(Math.min(until, now) / 1000) },
  );
  const open: OpenHour[] = [];
  for (const { cluster, windowStart, generation, usage, serving } of rows) {
    if (!(await hasRawRows(store, { cluster, windowStart }))) continue;
    open.push({ cluster, windowStart, generation: Number(generation), usage: markOf(usage), serving: markOf(serving) });
  }
  return open;
}

function markOf(written: WrittenMark): Watermark {
  return new Map(Object.entries(written).map(([partition, position]) => [Number(partition), Number(position)]));
}

/** The effective cost of each team in an hour under the billing policy, in last units. */
export type TeamCosts = ReadonlyMap<string, bigint>;

/**
 * Meters and charges an hour by this release without publishing anything. Returns the cost of each team as it is charged, and as it would be. A
 * leader drops the unpublished rows later. Fails with a `StoreError`.
 */
export async function tryHour(
  store: StoreClient,
  hour: OpenHour,
  rules: LedgerRules,
  now: number,
): Promise<{ readonly before: TeamCosts; readonly after: TeamCosts }> {
  const usage = { ...runOf(hour, hour.usage, now), isTrial: true };
  const charge = { ...runOf(hour, new Map(), now), isTrial: true };
  const charges = await beginCharges(store, charge, rules.charge);
  await meterWindow(store, usage, {
    ...meteringOf(rules, now),
    onUsage: async (rows) => {
      for await (const charged of chargedUsage([rows], charges.rules)) await charges.add(charged);
    },
  });
  const { breaches } = await charges.end();
  const [breach] = breaches;
  if (breach !== undefined) throw new Error(`${breach.what} of ${breach.node || "all nodes"} does not add up`);
  const policy = rules.charge.policies[0]!.name;
  const { cluster, windowStart } = hour;
  const costs = (table: string, where: string): Promise<TeamCosts> =>
    costsOf(store, `${table} WHERE policy = {policy:String} AND ${where}`, {
      policy,
      cluster,
      run: charge.runId,
      from: windowStart,
      until: windowStart + HOUR_MILLIS,
    });
  const [before, after] = await Promise.all([
    costs(
      "charges_published",
      `cluster = {cluster:String} AND from_at >= fromUnixTimestamp64Milli({from:Int64})
         AND from_at < fromUnixTimestamp64Milli({until:Int64})`,
    ),
    costs("charges", "run_id = toUUID({run:String})"),
  ]);
  return { before, after };
}

/** Meters an hour by this release and publishes it. The leader then charges it again by itself. Fails with a `StoreError`. */
export async function remeterHour(store: StoreClient, hour: OpenHour, rules: LedgerRules, now: number): Promise<void> {
  await meterServing(store, runOf(hour, hour.serving, now), now);
  await meterWindow(store, runOf(hour, hour.usage, now), meteringOf(rules, now));
}

function runOf({ cluster, windowStart, generation }: OpenHour, watermark: Watermark, now: number): Run {
  return { cluster, windowStart, generation, watermark, publishedAt: now, runId: newRunId() };
}

function meteringOf({ dates, absentAfterMillis }: LedgerRules, asOf: number) {
  return { dates, absentAfterMillis, asOf };
}

async function costsOf(
  store: StoreClient,
  from: string,
  parameters: Readonly<Record<string, string | number>>,
): Promise<TeamCosts> {
  const rows = await store.query<{ readonly team: string; readonly cost: string }>(
    `SELECT team, toString(sum(ifNull(effective_cost, 0))) AS cost FROM ${from} GROUP BY team`,
    parameters,
  );
  return new Map(rows.map(({ team, cost }) => [team, amountOf(cost)]));
}
