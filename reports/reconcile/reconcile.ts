import { EXPORT_PRICE } from "../../domain/invoice/rules.ts";
import type { BillingPeriod } from "../../domain/period.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { doubledExports, type DoubledExports } from "../../runtime/store/schema/doubled-exports.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** The sums of kept lines of one source, account and currency in a billing month. Amounts are exact decimals in that currency. */
export interface AccountSums {
  readonly source: string;
  readonly account: string;
  readonly currency: string;
  readonly lines: string;
  /** True if all lines have the number of an invoice. */
  readonly isInvoiced: boolean;
  readonly list: string;
  readonly contracted: string;
  readonly effective: string;
  readonly billed: string;
}

/** A part of the effective cost of an account: where it went. */
export interface Assigned extends Pick<AccountSums, "source" | "account" | "currency"> {
  /** `node`: to nodes; `platform`: lines of the platform; `none`: not charged; `waits`: in hours that the ledger has not charged. */
  readonly to: "node" | "platform" | "none" | "waits";
  /** The cluster of the nodes; empty otherwise. */
  readonly cluster: string;
  /** `machine`, `tax`, `outside`: the kind of the lines, or why no node has them. */
  readonly kind: string;
  readonly effective: string;
}

/** A part of the difference between effective and billed cost. */
export interface BridgePart extends Pick<AccountSums, "source" | "account" | "currency"> {
  readonly kind: string;
  /** True for lines that a commitment covers or that are of one. */
  readonly isOfCommitment: boolean;
  readonly effective: string;
  readonly billed: string;
  /** Billed less effective. */
  readonly difference: string;
}

/** A machine that is paid for and that no node was, for some of its time. */
export interface PaidMachine extends Pick<AccountSums, "source" | "account" | "currency"> {
  readonly machine: string;
  readonly instanceType: string;
  readonly region: string;
  /** `no-cluster` if no node was ever the machine; `outside` if its node had not come yet or was gone. */
  readonly kind: "no-cluster" | "outside";
  /** The first and the last hour, milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
  readonly effective: string;
}

/** A node with a cost of 0 on the bill. */
export interface FreeNode extends Pick<AccountSums, "source" | "account"> {
  readonly cluster: string;
  readonly node: string;
  readonly machine: string;
  readonly hours: number;
}

/** The charges of a source under the billing policy beside what its exports assign, in the hours of the month, in the currency of bills. */
export interface ChargedSource {
  readonly source: string;
  readonly charged: string;
}

/** A billing month of all exports, reconciled. */
export interface Reconciliation {
  readonly period: BillingPeriod;
  readonly accounts: readonly AccountSums[];
  readonly assigned: readonly Assigned[];
  /** The rest that rounding each cost to 10⁻⁹ leaves, for each account: its effective cost less all assigned parts. */
  readonly rounding: readonly (Pick<AccountSums, "source" | "account" | "currency"> & { readonly amount: string })[];
  readonly bridge: readonly BridgePart[];
  readonly machines: readonly PaidMachine[];
  readonly freeNodes: readonly FreeNode[];
  readonly charged: readonly ChargedSource[];
  readonly doubled: readonly DoubledExports[];
}

const sumOf = (column: string): string => `toString(sum(toDecimal256(${column}, 38)))`;
const OF_MONTH =
  "billing_from >= fromUnixTimestamp64Milli({from:Int64}) AND billing_from < fromUnixTimestamp64Milli({until:Int64})";
const PARTS = "invoiced_hours_published WHERE billing_period = toDate(fromUnixTimestamp64Milli({from:Int64}))";

const ACCOUNTS = `
SELECT source, account, currency, toString(count()) AS lines, min(invoice != '') AS isInvoiced,
  ${sumOf("list_cost")} AS list, ${sumOf("contracted_cost")} AS contracted,
  ${sumOf("effective_cost")} AS effective, ${sumOf("billed_cost")} AS billed
FROM export_lines_valid WHERE ${OF_MONTH} GROUP BY source, account, currency ORDER BY source, account, currency`;

/** Costs of an hour without a run of charges wait for it: the hour has not come, or the ledger did not see it. */
const ASSIGNED = `
SELECT source, account, currency, multiIf(booked = 'none', 'none', is_charged, booked, 'waits') AS to,
  if(to = 'node', cluster, '') AS cluster_of, kind, toString(sum(effective_cost)) AS effective
FROM (
  SELECT *, (cluster, toDateTime(hour)) IN (SELECT cluster, window_start FROM runs WHERE kind IN ('charge', 'correction')) AS is_charged
  FROM ${PARTS}
)
GROUP BY source, account, currency, to, cluster_of, kind
ORDER BY source, account, currency, to, cluster_of, kind`;

const ROUNDING = `
SELECT source, account, currency, toString(sum(lines) - sum(parts)) AS amount FROM (
  SELECT source, account, currency, sum(toDecimal256(effective_cost, 38)) AS lines, toDecimal256(0, 38) AS parts
  FROM export_lines_valid WHERE ${OF_MONTH} GROUP BY source, account, currency
  UNION ALL
  SELECT source, account, currency, toDecimal256(0, 38), toDecimal256(sum(effective_cost), 38)
  FROM ${PARTS} GROUP BY source, account, currency
)
GROUP BY source, account, currency ORDER BY source, account, currency`;

const BRIDGE = `
SELECT source, account, currency, kind, commitment != '' OR kind IN ('purchase', 'unused-commitment', 'reservation') AS isOfCommitment,
  ${sumOf("effective_cost")} AS effective, ${sumOf("billed_cost")} AS billed,
  toString(sum(toDecimal256(billed_cost, 38)) - sum(toDecimal256(effective_cost, 38))) AS difference
FROM export_lines_valid WHERE ${OF_MONTH}
GROUP BY source, account, currency, kind, isOfCommitment
ORDER BY source, account, currency, kind, isOfCommitment`;

const MACHINES = `
SELECT source, account, currency, machine, max(instance_type) AS instanceType, max(region) AS regionName, kind,
  toFloat64(toUnixTimestamp64Milli(min(hour))) AS from, toFloat64(toUnixTimestamp64Milli(max(hour))) + ${HOUR_MILLIS} AS until,
  toString(sum(effective_cost)) AS effective
FROM ${PARTS} AND kind IN ('no-cluster', 'outside')
GROUP BY source, account, currency, machine, kind
HAVING sum(effective_cost) != 0
ORDER BY sum(effective_cost) DESC, machine LIMIT {most:UInt32}`;

const FREE_NODES = `
SELECT source, account, cluster, node, any(machine) AS machine, toFloat64(uniqExact(hour)) AS hours
FROM ${PARTS} AND booked = 'node'
GROUP BY source, account, cluster, node
HAVING sum(abs(effective_cost)) = 0
ORDER BY hours DESC, node LIMIT {most:UInt32}`;

const CHARGED = `
SELECT substring(price, length('${EXPORT_PRICE}') + 1) AS source, toString(sum(ifNull(effective_cost, 0))) AS charged
FROM charges_summed
WHERE policy = {policy:String} AND startsWith(price, '${EXPORT_PRICE}') AND state != 'markup'
  AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
GROUP BY source ORDER BY source`;

/** The most machines and nodes that a reconciliation lists, dearest first. */
export const MOST_MACHINES = 1_000;

/** Reconciles a billing month: what the exports cost, and where each part of it went. Fails with a `StoreError`. */
export async function reconcile(
  store: StoreClient,
  { period, policy }: { readonly period: BillingPeriod; readonly policy: string },
): Promise<Reconciliation> {
  const parameters = { from: period.from, until: period.until, most: MOST_MACHINES, policy };
  const accounts = await store.query<Omit<AccountSums, "isInvoiced"> & { isInvoiced: number }>(ACCOUNTS, parameters);
  const assigned = await store.query<Omit<Assigned, "cluster"> & { cluster_of: string }>(ASSIGNED, parameters);
  const bridge = await store.query<Omit<BridgePart, "isOfCommitment"> & { isOfCommitment: number }>(BRIDGE, parameters);
  const machines = await store.query<Omit<PaidMachine, "region"> & { regionName: string }>(MACHINES, parameters);
  return {
    period,
    accounts: accounts.map((row) => ({ ...row, isInvoiced: Number(row.isInvoiced) === 1 })),
    assigned: assigned.map(({ cluster_of: cluster, ...row }) => ({ ...row, cluster })),
    rounding: await store.query<Reconciliation["rounding"][number]>(ROUNDING, parameters),
    bridge: bridge.map((row) => ({ ...row, isOfCommitment: Boolean(row.isOfCommitment) })),
    machines: machines.map(({ regionName: region, ...row }) => ({ ...row, region })),
    freeNodes: await store.query<FreeNode>(FREE_NODES, parameters),
    charged: await store.query<ChargedSource>(CHARGED, parameters),
    doubled: await doubledExports(store, period),
  };
}
