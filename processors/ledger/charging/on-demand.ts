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
import { pricesOf, type PriceRules } from "./read-invoiced.ts";
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
  const works = bills.map((bill): Work => {
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

/** Returns the charges of an hour of a cluster for each bill, before anything is spread. */
async function chargeHour(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  works: readonly Work[],
  usage: Portions,
): Promise<{ readonly charges: readonly (readonly Charge[])[]; readonly breaches: readonly Breach[] }> {
  const charges = works.map((): Charge[] => []);
  const breaches: Breach[] = [];
  const add = (at: number, { charges: [ofNode] }: ChargedNode): void => {
    for (const charge of ofNode!) charges[at]!.push(charge);
  };
  const check = (at: number, node: string, charged: ChargedNode): ChargedNode => {
    breaches.push(...breachesOf(works[at]!.policy.name, node, charged, charged.charges[0]!));
    return charged;
  };
  const rulesOf: Rules[] = [];
  for (const { book, prepared } of works)
    rulesOf.push({ ...prepared, ...(await pricesOf(store, { cluster, windowStart }, book)) });
  if (cluster === FLEET) {
    for (const [at, rules] of rulesOf.entries())
      for await (const { node, charged } of fleetNodes(store, windowStart, rules)) add(at, check(at, node, charged));
    return { charges, breaches };
  }
  for await (const hours of nodesOf(usage)) {
    const unchanged = new Map<number, ChargedNode>();
    for (const [at, { change, like }] of works.entries())
      for (const ofNode of change?.(hours) ?? [hours]) {
        const known = ofNode === hours ? unchanged.get(like) : undefined;
        const charged = known ?? check(at, ofNode[0]!.node, chargeNode(ofNode, rulesOf[at]!));
        if (ofNode === hours) unchanged.set(like, charged);
        add(at, charged);
      }
  }
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
