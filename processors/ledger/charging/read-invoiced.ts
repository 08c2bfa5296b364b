import { FLEET } from "../../../domain/charge/fleet.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { parseDecimal } from "../../../domain/exact/rational.ts";
import { amountOf, lastUnits } from "../../../domain/exact/units.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { SourceRules } from "../../../domain/invoice/rules.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { together } from "../../../runtime/store/in-step.ts";
import type { Rules } from "../charge/charge-node.ts";
import { withInvoiced, type InvoicedCost, type InvoicedNode, type PlatformCost } from "../charge/invoiced-prices.ts";
import type { NodePrices } from "../charge/node-prices.ts";

/**
 * Selects the costs of exports in hours of a cluster; for costs of no cluster, those of all clusters, because commitments can cover them.
 * Without nodes, those of all nodes.
 */
const COSTS = `
SELECT toFloat64(toUnixTimestamp64Milli(hour)) AS start, cluster, node, uid, kind, source, currency, rate, status,
  region, zone, instance_type AS instanceType, capacity_type AS capacityType,
  toFloat64(toUnixTimestamp64Milli(from_at)) AS from, toFloat64(toUnixTimestamp64Milli(until_at)) AS until,
  toString(sum(list_cost)) AS list, toString(sum(contracted_cost)) AS contracted, toString(sum(effective_cost)) AS effective
FROM invoiced_hours_published
WHERE hour IN (SELECT fromUnixTimestamp64Milli(arrayJoin({starts:Array(Int64)})))
  AND ({cluster:String} = '${FLEET}' OR cluster = {cluster:String}) AND booked != 'none'
  AND (empty({nodes:Array(String)}) OR node IN {nodes:Array(String)})
GROUP BY start, cluster, node, uid, kind, source, currency, rate, status, region, zone, instance_type, capacity_type, from, until
ORDER BY ALL`;

interface CostRow extends Omit<PlatformCost, "costs" | "rate"> {
  /** Empty if the rates of the book count. */
  readonly rate: string;
  readonly start: number;
  readonly cluster: string;
  readonly node: string;
  readonly uid: string;
  readonly list: string;
  readonly contracted: string;
  readonly effective: string;
}

/** The prices of an hour, and the costs of exports in it that belong to no node. */
type HourPrices = Pick<Rules, "prices" | "platformCosts">;

/** The prices of a book, and the sources of exports that come before it; none if absent. */
export interface PriceRules {
  readonly prices: NodePrices;
  readonly invoices: readonly SourceRules[] | undefined;
}

/** Returns the prices of an hour of a cluster: those of exports before those of the book. Fails with a `StoreError`. */
export async function pricesOf(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  { prices, invoices }: PriceRules,
): Promise<HourPrices> {
  if (invoices === undefined) return { prices };
  const rows = await together(store, readCosts, { cluster, windowStart });
  return {
    prices: withInvoiced(prices, byNode(rows)),
    platformCosts: cluster === FLEET ? rows.filter(({ node }) => node === "").map(costOf) : [],
  };
}

/** Returns the prices of nodes of a cluster over whole hours. Fails with a `StoreError`. */
export async function pricesOfSpan(
  store: StoreClient,
  { cluster, nodes, from, until }: SpanOfNodes,
  { prices, invoices }: PriceRules,
): Promise<NodePrices> {
  if (invoices === undefined || nodes.length === 0) return prices;
  const first = hourOf(from);
  const starts = Array.from({ length: Math.ceil((until - first) / HOUR_MILLIS) }, (_, at) => first + at * HOUR_MILLIS);
  return withInvoiced(prices, byNode(await store.query<CostRow>(COSTS, { cluster, starts, nodes })));
}

/** Some nodes of a cluster over a time, milliseconds since the epoch. */
export interface SpanOfNodes {
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly from: number;
  readonly until: number;
}

function byNode(rows: readonly CostRow[]): InvoicedNode {
  const keyOf = (of: Parameters<InvoicedNode>[0], start: number): string =>
    JSON.stringify([of.cluster, of.node, of.uid, start]);
  const ofNodes = groupedBy(
    rows.filter(({ node }) => node !== ""),
    (row) => keyOf(row, row.start),
  );
  const costs = new Map<string, readonly InvoicedCost[]>([...ofNodes].map(([key, of]) => [key, of.map(costOf)]));
  return (of, at) => costs.get(keyOf(of, hourOf(at))) ?? [];
}

async function readCosts(
  store: StoreClient,
  windows: readonly WindowOfCluster[],
): Promise<readonly (readonly CostRow[])[]> {
  const starts = windows.map(({ windowStart }) => windowStart);
  const rows = await store.query<CostRow>(COSTS, { cluster: windows[0]!.cluster, starts, nodes: [] });
  const byHour = groupedBy(rows, ({ start }) => start);
  return starts.map((start) => byHour.get(start) ?? []);
}

function costOf({ list, contracted, effective, rate, ...row }: CostRow): PlatformCost {
  const [of, after, net] = [list, contracted, effective].map((text) => lastUnits<"currency">(amountOf(text)));
  const own = parseDecimal(rate);
  return {
    ...row,
    rate: "value" in own ? own.value : undefined,
    costs: { list: of!, contracted: after!, effective: net! },
  };
}

const RUNS = `
SELECT toFloat64(toUnixTimestamp(window_start)) * 1000 AS start, ${ofLastRun("toString(run_id)")} AS run FROM runs
WHERE kind = 'invoice' AND cluster = {cluster:String}
  AND window_start IN (SELECT fromUnixTimestamp64Milli(arrayJoin({starts:Array(Int64)})))
GROUP BY window_start`;

/** Returns the run with the costs of exports of an hour of a cluster; empty if there is none. Fails with a `StoreError`. */
export async function invoiceRunOf(
  store: StoreClient,
  window: WindowOfCluster,
  invoices: PriceRules["invoices"],
): Promise<string> {
  return invoices === undefined ? "" : together(store, readRuns, window);
}

async function readRuns(store: StoreClient, windows: readonly WindowOfCluster[]): Promise<readonly string[]> {
  const starts = windows.map(({ windowStart }) => windowStart);
  const rows = await store.query<{ start: number; run: string }>(RUNS, { cluster: windows[0]!.cluster, starts });
  const runs = new Map(rows.map(({ start, run }) => [start, run]));
  return starts.map((start) => runs.get(start) ?? "");
}
