import type { UsagePlace } from "../../domain/allocation/usage-hour.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { absentHours, listedMachines, type ListedMachine } from "../ledger/charge/absent-machines.ts";
import { chargeNode, type ChargedNode, type Rules } from "../ledger/charge/charge-node.ts";
import { standingCharges, type SlotSpan } from "../ledger/charge/standing.ts";
import { HOUR_MILLIS } from "../rollup/window.ts";

/**
 * The name under which an hour has what is of no cluster: what no usage takes up of commitments and fixed costs, and machines of
 * one's own that are in none. It is charged, corrected and closed as a cluster's hour is.
 */
export const FLEET = "";

/** Every slot of every cluster over an hour, as the meter has published it. */
const SLOTS = `
SELECT cluster, node, slot, place, JSONExtractString(gpu_at, 'model') AS model,
  toFloat64(toUnixTimestamp64Milli(min(from_at))) AS begun, toFloat64(toUnixTimestamp64Milli(max(until_at))) AS over
FROM usage_hours_published
WHERE from_at >= fromUnixTimestamp64Milli({start:Int64}) AND from_at < fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS})
GROUP BY cluster, node, slot, place, model
ORDER BY cluster, node, slot, begun`;

/** Up to when an hour is metered: its end, or for the one that runs when that was. */
const METERED = `
SELECT toFloat64(toUnixTimestamp64Milli(max(published_at))) AS at FROM runs
WHERE kind = 'usage' AND window_start = toDateTime({start:Int64}, 'UTC')`;

/** Where machines were ever seen, with the most GPUs that were, up to an hour's end. */
const SEEN = `
SELECT node, argMax(cluster, at) AS cluster, max(gpus) AS most FROM inventory_facts
WHERE node IN {nodes:Array(String)} AND at < fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS})
GROUP BY node`;

/** The charges of an hour that are of no cluster, under each policy. Fails with a `StoreError`. */
export async function* fleetNodes(
  store: StoreClient,
  start: number,
  rules: Rules,
): AsyncGenerator<{ readonly node: string; readonly charged: ChargedNode }> {
  const { book } = rules.prices;
  const [metered] = await store.query<{ at: number }>(METERED, { start: start / 1000 });
  const hour = { from: start, until: Math.min(start + HOUR_MILLIS, metered?.at ?? start) };
  if (hour.from >= hour.until) return;
  const slots = await readSlots(store, start);
  const machines = await readListed(store, listedMachines(book), start);
  for (const { node } of machines) {
    const ofNode = machines.filter((one) => one.node === node);
    const hours = absentHours(book, ofNode, slots, hour);
    if (hours.length > 0) yield { node, charged: ofNoCluster(chargeNode(hours, rules)) };
  }
  const standing = standingCharges(book, rules.prices, slots, hour);
  const beside = standing.flatMap(({ costs }) => costs ?? []);
  if (standing.length > 0)
    yield {
      node: "",
      charged: ofNoCluster({ charges: rules.policies.map(() => standing), slots: [], beside, refused: [] }),
    };
}

/** Prices look at the cluster that a machine was in, or is for; its absence is in none. */
function ofNoCluster(charged: ChargedNode): ChargedNode {
  return {
    ...charged,
    charges: charged.charges.map((ofPolicy) => ofPolicy.map((charge) => ({ ...charge, cluster: FLEET }))),
  };
}

async function readSlots(store: StoreClient, start: number): Promise<readonly SlotSpan[]> {
  const rows = await store.query<{
    cluster: string;
    node: string;
    slot: number;
    place: string;
    model: string;
    begun: number;
    over: number;
  }>(SLOTS, { start });
  return rows.map(({ cluster, node, slot, place, model, begun, over }) => ({
    cluster,
    node,
    slot,
    model: model === "" ? undefined : model,
    place: JSON.parse(place) as UsagePlace,
    from: begun,
    until: over,
  }));
}

async function readListed(
  store: StoreClient,
  nodes: readonly string[],
  start: number,
): Promise<readonly ListedMachine[]> {
  if (nodes.length === 0) return [];
  const rows = await store.query<{ node: string; cluster: string; most: number }>(SEEN, { nodes, start });
  const seen = new Map(rows.map(({ node, cluster, most }) => [node, { cluster, gpus: Number(most) }]));
  return nodes.map((node) => ({ node, seen: seen.get(node) }));
}
