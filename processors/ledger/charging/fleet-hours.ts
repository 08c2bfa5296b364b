import { FLEET } from "../../../domain/charge/fleet.ts";
import type { UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { ofNewestFact } from "../../../runtime/store/schema/facts.ts";
import { absentHours, type OwnedMachine } from "../charge/absent-machines.ts";
import { hasOwnedByMatch, listedMachines } from "../../../domain/price/fleet-costs.ts";
import { platformCharges } from "../charge/invoiced-prices.ts";
import { chargeNode, type ChargedNode, type Rules } from "../charge/charge-node.ts";
import { standingCharges, type SlotSpan } from "../charge/standing.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** Selects every slot of every cluster over hours, from the published usage. */
const SLOTS = `
SELECT toFloat64(toUnixTimestamp(toStartOfHour(from_at))) * 1000 AS start, cluster, node, slot, place,
  JSONExtractString(gpu_at, 'model') AS model,
  toFloat64(toUnixTimestamp64Milli(min(from_at))) AS begun, toFloat64(toUnixTimestamp64Milli(max(until_at))) AS over
FROM usage_hours_published
WHERE from_at >= fromUnixTimestamp64Milli(arrayMin({starts:Array(Int64)}))
  AND from_at < fromUnixTimestamp64Milli(arrayMax({starts:Array(Int64)}) + ${HOUR_MILLIS})
GROUP BY start, cluster, node, slot, place, model
ORDER BY start, cluster, node, slot, begun`;

/** Selects until when hours are metered: their ends, or for the running hour the time of the last metering. */
const METERED = `
SELECT toFloat64(toUnixTimestamp(window_start)) * 1000 AS start, toFloat64(toUnixTimestamp64Milli(max(published_at))) AS at
FROM runs WHERE kind = 'usage' AND toUnixTimestamp(window_start) * 1000 IN {starts:Array(Int64)}
GROUP BY window_start`;

const SEEN = `node, argMax(cluster, at) AS cluster, max(gpus) AS most, ${ofNewestFact("fact")} AS body`;
/** Selects the machines that a book lists, as seen up to the end of each hour, with their most GPUs and their last fact. */
const LISTED = `
SELECT toFloat64(each) AS start, ${SEEN} FROM inventory_facts ARRAY JOIN {starts:Array(Int64)} AS each
WHERE node IN {nodes:Array(String)} AND at < fromUnixTimestamp64Milli(each + ${HOUR_MILLIS})
GROUP BY each, node ORDER BY each, node`;
/** Selects all other machines, whenever they were seen, because an owned machine has a cost before it is seen. */
const OTHERS = `
SELECT ${SEEN} FROM inventory_facts WHERE node NOT IN {nodes:Array(String)} GROUP BY node ORDER BY node`;

/** Yields the charges of an hour that belong to no cluster, under each policy. Fails with a `StoreError`. */
export async function* fleetNodes(
  store: StoreClient,
  start: number,
  rules: Rules,
): AsyncGenerator<{ readonly node: string; readonly charged: ChargedNode }> {
  const { book } = rules.prices;
  const { meteredUntil, slots, machines } = await together(store, readHours, { start, book });
  const hour = { from: start, until: Math.min(start + HOUR_MILLIS, meteredUntil) };
  if (hour.from >= hour.until) return;
  for (const { node } of machines) {
    const ofNode = machines.filter((one) => one.node === node);
    const hours = absentHours(book, ofNode, slots, hour);
    if (hours.length > 0) yield { node, charged: ofNoCluster(chargeNode(hours, rules)) };
  }
  const standing = [
    ...standingCharges(book, rules.prices, slots, hour),
    ...platformCharges(rules.platformCosts ?? [], book),
  ];
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

/** The input of the charges of an hour that belong to no cluster. */
interface FleetHour {
  /** The start of the hour if it is not metered at all. */
  readonly meteredUntil: number;
  readonly slots: readonly SlotSpan[];
  /**
   * The machines that can be owned: those that the book lists and, if an entry applies to all machines that it matches, those that were
   * seen.
   */
  readonly machines: readonly OwnedMachine[];
}

async function readHours(
  store: StoreClient,
  asked: readonly { readonly start: number; readonly book: Rules["prices"]["book"] }[],
): Promise<readonly FleetHour[]> {
  const { book } = asked[0]!;
  const nodes = listedMachines(book);
  const parameters = { starts: asked.map(({ start }) => start), nodes };
  const metered = await store.query<{ start: number; at: number }>(METERED, parameters);
  const slots = groupedBy(await store.query<SlotRow>(SLOTS, parameters), ({ start }) => start);
  const seen = nodes.length === 0 ? [] : await store.query<SeenRow & { start: number }>(LISTED, parameters);
  const others = hasOwnedByMatch(book) ? (await store.query<SeenRow>(OTHERS, parameters)).map(machineOf) : [];
  return asked.map(({ start }) => {
    const ofHour = new Map(seen.filter((row) => row.start === start).map((row) => [row.node, machineOf(row)]));
    return {
      meteredUntil: metered.find((row) => row.start === start)?.at ?? start,
      slots: (slots.get(start) ?? []).map(slotOf),
      machines: [...nodes.map((node) => ofHour.get(node) ?? { node, seen: undefined }), ...others],
    };
  });
}

interface SlotRow {
  readonly start: number;
  readonly cluster: string;
  readonly node: string;
  readonly slot: number;
  readonly place: string;
  readonly model: string;
  readonly begun: number;
  readonly over: number;
}

function slotOf({ cluster, node, slot, place, model, begun, over }: SlotRow): SlotSpan {
  const machine = JSON.parse(place) as UsageMachine;
  return { cluster, node, slot, model: model === "" ? undefined : model, machine, from: begun, until: over };
}

interface SeenRow {
  readonly node: string;
  readonly cluster: string;
  readonly most: number;
  readonly body: string;
}

function machineOf({ node, cluster, most, body }: SeenRow): OwnedMachine {
  return { node, seen: { cluster, gpus: Number(most), fact: JSON.parse(body) as InventoryFact } };
}
