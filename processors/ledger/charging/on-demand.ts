import type { Charge } from "../../../domain/charge/charge.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { ChargeRules } from "./charge-window.ts";
import { chargedNodes, type ChangeUsage } from "./charged-nodes.ts";
import { spreadHour } from "./reservations.ts";
import { FLEET } from "./fleet-hours.ts";
import { breachesOf, type Breach } from "../charge/invariant.ts";
import { createLateSpread } from "../charge/late-spread.ts";
import { markupCharges } from "../charge/markup.ts";
import { createNodePrices } from "../charge/node-prices.ts";
import { hasFleetCosts } from "../hours/rules.ts";
import type { WindowOfCluster } from "../hours/schedule.ts";

/** A part of a bill that is computed on demand, with its progress. */
export interface OnDemandCharges {
  readonly charges: readonly Charge[];
  readonly breaches: readonly Breach[];
  /** The number of finished hours of clusters, and the number of all. */
  readonly done: number;
  readonly of: number;
}

/**
 * Yields the charges of a span, milliseconds since the epoch, under any policy, kept or not. They come from the published usage and the
 * given prices and owners, hour by hour of each cluster, as it was or as `change` makes it. Charges that are spread over days or the span come last. Nothing is stored. A
 * spread over a period is done over the span. Fails with a `StoreError`.
 */
export async function* chargeOnDemand(
  store: StoreClient,
  { book, owners, energy }: Omit<ChargeRules, "policies">,
  policy: Policy,
  span: { readonly from: number; readonly until: number },
  change?: ChangeUsage,
): AsyncGenerator<OnDemandCharges> {
  const rules = { prices: createNodePrices(book), owners, policies: [policy], energy };
  const isHourly = policy.spread.window === "hour";
  const late = createLateSpread(policy.spread);
  const windows = await windowsOf(store, span, hasFleetCosts(book));
  for (const [index, window] of windows.entries()) {
    const charges: Charge[] = [];
    const breaches: Breach[] = [];
    for await (const { node, charged } of chargedNodes(store, window, rules, change)) {
      const [ofNode] = charged.charges as [readonly Charge[]];
      breaches.push(...breachesOf(policy.name, node, charged, ofNode));
      for (const charge of ofNode) charges.push(charge);
    }
    if (!isHourly) late.add(charges);
    const final = isHourly
      ? (await spreadHour(store, window, { charges, policy, owners })).charges
      : charges.filter(({ payer }) => payer !== "spread");
    yield {
      charges: [...final, ...markupCharges(final, book.markup)],
      breaches,
      done: index + 1,
      of: windows.length,
    };
  }
  const { charges } = late.end();
  if (charges.length > 0)
    yield {
      charges: [...charges, ...markupCharges(charges, book.markup)],
      breaches: [],
      done: windows.length,
      of: windows.length,
    };
}

/** Returns the hours of a span with published usage, of each cluster and, if there are costs of no cluster, of none. */
async function windowsOf(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
  hasFleet: boolean,
): Promise<readonly WindowOfCluster[]> {
  const rows = await store.query<{ cluster: string; start: number }>(
    `SELECT DISTINCT arrayJoin(${hasFleet ? `[toString(cluster), '${FLEET}']` : "[toString(cluster)]"}) AS cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS start
     FROM runs
     WHERE kind = 'usage'
       AND window_start >= fromUnixTimestamp({from:Int64}) AND window_start < fromUnixTimestamp({until:Int64})
     ORDER BY start, cluster`,
    { from: Math.floor(from / 1000), until: Math.floor(until / 1000) },
  );
  return rows.map(({ cluster, start }) => ({ cluster, windowStart: start }));
}
