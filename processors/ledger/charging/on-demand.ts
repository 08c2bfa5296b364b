import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { Charge } from "../../../domain/charge/charge.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { chargeNode, type ChargedNode, type Rules } from "../charge/charge-node.ts";
import { breachesOf } from "../charge/invariant.ts";
import type { Breach } from "../charge/breach.ts";
import { createLateSpread, type LateSpread } from "../charge/late-spread.ts";
import { markupCharges } from "../charge/markup.ts";
import { createNodePrices } from "../charge/node-prices.ts";
import { hasFleetCosts } from "../../../domain/price/fleet-costs.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { readUsage } from "../metering/usage-rows.ts";
import type { ChargeRules } from "./charge-window.ts";
import { nodesOf, type Portions } from "./charged-nodes.ts";
import { fleetNodes } from "./fleet-hours.ts";
import { FLEET } from "../../../domain/charge/fleet.ts";
import { pricesOf, pricesOfSpan, type PriceRules, type SpanOfNodes } from "./read-invoiced.ts";
import { spreadHour } from "./reservations.ts";

/** Returns the usage of a node in an hour as the usage of one node or several, to charge it as it would have been. */
export type ChangeUsage = (hours: readonly UsageHour[]) => readonly (readonly UsageHour[])[];

/** The rules of one of several bills of the same usage. */
export interface BillRules {
  readonly rules: Omit<ChargeRules, "policies">;
  readonly policy: Policy;
  /** Changes the usage before it is charged; absent if the usage is charged as it was. */
  readonly change?: ChangeUsage;
}

/** A part of each bill, with the progress. */
export interface OnDemandCharges {
  /** In the order of the bills. */
  readonly charges: readonly (readonly Charge[])[];
  readonly breaches: readonly Breach[];
  /** The number of finished hours of clusters, and the number of all. */
  readonly done: number;
  readonly of: number;
}

/** A bill in the making. */
interface Work extends BillRules {
  readonly book: PriceRules;
  readonly prepared: Omit<Rules, "prices">;
  /** The index of the first bill with the same rules and policy: usage that no change affects has the same charges in both. */
  readonly like: number;
  readonly late: LateSpread;
}

/**
 * Yields the charges of a span, milliseconds since the epoch, for one or several bills: by any prices, owners and policies, kept or not, of the
 * usage as it was or as a change makes it. They come from the published usage, which is read once, hour by hour of each cluster. Charges that
 * are spread over days or the span come last. Nothing is stored. A spread over a period is done over the span. Fails with a `StoreError`.
 */
export async function* chargeOnDemand(
  store: StoreClient,
  bills: readonly BillRules[],
  span: { readonly from: number; readonly until: number },
): AsyncGenerator<OnDemandCharges> {
  const works = worksOf(bills);
  const windows = await windowsOf(
    store,
    span,
    bills.some(({ rules }) => hasFleetCosts(rules.book) || rules.invoices !== undefined),
  );
  const reads = readAhead(store, windows);
  for (const [index, window] of windows.entries()) {
    const { charges, breaches } = await chargeHour(store, window, works, await reads.next());
    yield {
      charges: await Promise.all(works.map((work, at) => endOfHour(store, window, work, charges[at]!))),
      breaches,
      done: index + 1,
      of: windows.length,
    };
  }
  const late = works.map((work) => withMarkups(work, work.late.end().charges));
  if (late.some(({ length }) => length > 0))
    yield { charges: late, breaches: [], done: windows.length, of: windows.length };
}

function worksOf(bills: readonly BillRules[]): readonly Work[] {
  return bills.map((bill): Work => {
    const { rules, policy } = bill;
    const { book, owners, energy, invoices } = rules;
    return {
      ...bill,
      book: { prices: createNodePrices(book), invoices },
      prepared: { owners, policies: [policy], energy },
      like: bills.findIndex((other) => other.rules === rules && other.policy === policy),
      late: createLateSpread(policy.spread),
    };
  });
}

/**
 * Yields the charges of some nodes of a cluster in a span for one or several bills, like {@link chargeOnDemand}, with markups, but nothing is
 * spread. Fails with a `StoreError`.
 */
export async function* chargeNodesOnDemand(
  store: StoreClient,
  bills: readonly BillRules[],
  of: SpanOfNodes,
): AsyncGenerator<Pick<OnDemandCharges, "charges" | "breaches">> {
  const works = worksOf(bills);
  const { cluster, nodes, from, until } = of;
  const rulesOf = await Promise.all(
    works.map(async ({ book, prepared }) => ({ ...prepared, prices: await pricesOfSpan(store, of, book) })),
  );
  for await (const hours of nodesOf(readUsage(store, cluster, { from, until }, nodes))) {
    const { charges, breaches } = chargeUsage(hours, works, rulesOf);
    yield { charges: charges.map((each, at) => withMarkups(works[at]!, each)), breaches };
  }
}

/** Returns the charges of an hour of a cluster for each bill, before anything is spread. */
async function chargeHour(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  works: readonly Work[],
  usage: Portions,
): Promise<BillCharges> {
  const rulesOf: Rules[] = [];
  for (const { book, prepared } of works)
    rulesOf.push({ ...prepared, ...(await pricesOf(store, { cluster, windowStart }, book)) });
  const charges = works.map((): Charge[] => []);
  const breaches: Breach[] = [];
  if (cluster === FLEET) {
    for (const [at, rules] of rulesOf.entries())
      for await (const { node, charged } of fleetNodes(store, windowStart, rules)) {
        breaches.push(...breachesOf(works[at]!.policy.name, node, charged, charged.charges[0]!));
        for (const charge of charged.charges[0]!) charges[at]!.push(charge);
      }
    return { charges, breaches };
  }
  for await (const hours of nodesOf(usage)) {
    const ofNode = chargeUsage(hours, works, rulesOf);
    breaches.push(...ofNode.breaches);
    for (const [at, each] of ofNode.charges.entries()) for (const charge of each) charges[at]!.push(charge);
  }
  return { charges, breaches };
}

/** The charges of each bill, in the order of the bills. */
interface BillCharges {
  readonly charges: readonly Charge[][];
  readonly breaches: readonly Breach[];
}

/** Returns the charges of a node in an hour for each bill, before anything is spread. */
function chargeUsage(hours: readonly UsageHour[], works: readonly Work[], rulesOf: readonly Rules[]): BillCharges {
  const unchanged = new Map<number, ChargedNode>();
  const breaches: Breach[] = [];
  const charges = works.map(({ change, like, policy }, at) =>
    (change?.(hours) ?? [hours]).flatMap((ofNode) => {
      const known = ofNode === hours ? unchanged.get(like) : undefined;
      const charged = known ?? chargeNode(ofNode, rulesOf[at]!);
      const [ofPolicy] = charged.charges;
      if (known === undefined) breaches.push(...breachesOf(policy.name, ofNode[0]!.node, charged, ofPolicy!));
      if (ofNode === hours) unchanged.set(like, charged);
      return ofPolicy!;
    }),
  );
  return { charges, breaches };
}

/** Returns the charges of an hour after what is spread within the hour, with markups. */
async function endOfHour(
  store: StoreClient,
  window: WindowOfCluster,
  work: Work,
  charges: readonly Charge[],
): Promise<readonly Charge[]> {
  const { policy, rules, late } = work;
  if (policy.spread.window === "hour") {
    const spread = await spreadHour(store, window, { charges, policy, owners: rules.owners });
    return withMarkups(work, spread.charges);
  }
  late.add(charges);
  return withMarkups(
    work,
    charges.filter(({ payer }) => payer !== "spread"),
  );
}

function withMarkups({ rules }: Work, charges: readonly Charge[]): readonly Charge[] {
  return rules.book.markup.length === 0 ? charges : [...charges, ...markupCharges(charges, rules.book.markup)];
}

/** Reads the usage of one hour after the other. While an hour is charged, the store answers for the next one. */
function readAhead(store: StoreClient, windows: readonly WindowOfCluster[]): { next(): Promise<Portions> } {
  let at = 0;
  const start = (): Promise<Portions> => {
    const window = windows[at++];
    const read = window === undefined || window.cluster === FLEET ? Promise.resolve([]) : readHour(store, window);
    // A failure is handled when the hour has its turn.
    read.catch(() => {});
    return read;
  };
  let ahead = start();
  return {
    next() {
      const read = ahead;
      ahead = start();
      return read;
    },
  };
}

async function readHour(store: StoreClient, { cluster, windowStart }: WindowOfCluster): Promise<Portions> {
  const portions: (readonly UsageHour[])[] = [];
  const hour = { from: windowStart, until: windowStart + HOUR_MILLIS };
  for await (const portion of readUsage(store, cluster, hour)) portions.push(portion);
  return portions;
}

/** Returns the hours of a span with published usage, of each cluster and, if there are costs of no cluster, of none. */
async function windowsOf(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
  hasFleet: boolean,
): Promise<readonly WindowOfCluster[]> {
  const clusters = hasFleet ? `[toString(cluster), '${FLEET}']` : "[toString(cluster)]";
  const rows = await store.query<{ cluster: string; start: number }>(
    `SELECT DISTINCT arrayJoin(${clusters}) AS cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS start
     FROM runs
     WHERE kind = 'usage'
       AND window_start >= fromUnixTimestamp({from:Int64}) AND window_start < fromUnixTimestamp({until:Int64})
     ORDER BY start, cluster`,
    { from: Math.floor(from / 1000), until: Math.floor(until / 1000) },
  );
  return rows.map(({ cluster, start }) => ({ cluster, windowStart: start }));
}
