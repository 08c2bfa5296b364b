import type { UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofNewestFact } from "../../../runtime/store/schema/facts.ts";
import { absentHours, hasOwnedByMatch, listedMachines, type OwnedMachine } from "../charge/absent-machines.ts";
import { chargeNode, type ChargedNode, type Rules } from "../charge/charge-node.ts";
import { standingCharges, type SlotSpan } from "../charge/standing.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/**
 * The cluster name of costs that belong to no cluster: unused parts of commitments and fixed costs, and owned machines outside all
 * clusters. They are charged, corrected and closed like a cluster's hour.
 */
export const FLEET = "";

/** Selects every slot of every cluster over an hour, from the published usage. */
const SLOTS = `
SELECT cluster, node, slot, place, JSONExtractString(gpu_at, 'model') AS model,
  toFloat64(toUnixTimestamp64Milli(min(from_at))) AS begun, toFloat64(toUnixTimestamp64Milli(max(until_at))) AS over
FROM usage_hours_published
WHERE from_at >= fromUnixTimestamp64Milli({start:Int64}) AND from_at < fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS})
GROUP BY cluster, node, slot, place, model
ORDER BY cluster, node, slot, begun`;

/** Selects until when an hour is metered: its end, or for the running hour the time of the last metering. */
const METERED = `
SELECT toFloat64(toUnixTimestamp64Milli(max(published_at))) AS at FROM runs
WHERE kind = 'usage' AND window_start = toDateTime({start:Int64}, 'UTC')`;

/** Returns a query for the machines that were ever seen, with their most GPUs and their last fact. */
const seenOf = (which: string): string => `
SELECT node, argMax(cluster, at) AS cluster, max(gpus) AS most, ${ofNewestFact("fact")} AS body
FROM inventory_facts WHERE ${which} GROUP BY node ORDER BY node`;
/** Selects the machines that a book lists, as seen up to an hour's end. */
const LISTED = seenOf(
  `node IN {nodes:Array(String)} AND at < fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS})`,
);
/** Selects all other machines, whenever they were seen, because an owned machine has a cost before it is seen. */
const OTHERS = seenOf("node NOT IN {nodes:Array(String)}");

/** Yields the charges of an hour that belong to no cluster, under each policy. Fails with a `StoreError`. */
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
  const machines = await readMachines(store, book, start);
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

/**
 * Returns the charges without their cluster. Prices match by the cluster that a machine was in or is for, but its absence belongs to no
 * cluster.
 */
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
    machine: JSON.parse(place) as UsageMachine,
    from: begun,
    until: over,
  }));
}

/**
 * Reads the machines that can be owned: those that the book lists and, if an entry applies to all machines that it matches, those that were
 * seen.
 */
async function readMachines(
  store: StoreClient,
  book: Rules["prices"]["book"],
  start: number,
): Promise<readonly OwnedMachine[]> {
  const nodes = listedMachines(book);
  const read = async (sql: string): Promise<readonly OwnedMachine[]> => {
    const rows = await store.query<{ node: string; cluster: string; most: number; body: string }>(sql, {
      nodes,
      start,
    });
    return rows.map(({ node, cluster, most, body }) => {
      return { node, seen: { cluster, gpus: Number(most), fact: JSON.parse(body) as InventoryFact } };
    });
  };
  const seen = nodes.length === 0 ? [] : await read(LISTED);
  const listed = nodes.map((node) => seen.find((machine) => machine.node === node) ?? { node, seen: undefined });
  return hasOwnedByMatch(book) ? [...listed, ...(await read(OTHERS))] : listed;
}
