import { cloudMachineOf } from "../../../domain/invoice/machine-id.ts";
import type { NodeTime } from "../../../domain/invoice/divide.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";

/** The times of nodes over hours, from the published usage. A machine without Kubernetes has no UID. */
const TIMES = `
SELECT cluster, node, JSONExtractString(place, 'machine') AS uid,
  toFloat64(toUnixTimestamp64Milli(min(from_at))) AS from, toFloat64(toUnixTimestamp64Milli(max(until_at))) AS until
FROM usage_hours_published
WHERE from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
GROUP BY cluster, node, uid, toStartOfHour(from_at)
ORDER BY cluster, node, from`;

const IDS = `
SELECT cluster, node, uid, JSONExtractString(fact, 'providerId') AS providerId
FROM inventory_facts WHERE providerId != '' GROUP BY cluster, node, uid, providerId
ORDER BY cluster, node, uid, providerId`;

/** The times of nodes, by the machine that each of them was. */
export interface MachineNodes {
  /** Returns the times in which nodes were a machine: by its id, otherwise by its name, which is the last part of its id. */
  of(machine: string): readonly NodeTime[];
  /** Returns whether any node was ever the machine. */
  has(machine: string): boolean;
}

/** The machine of each Node with an id of its cloud, by cluster, name and UID. */
export type NodeMachines = ReadonlyMap<string, string>;

/** Reads the machines of all Nodes that were ever seen. Fails with a `StoreError`. */
export async function readMachines(store: StoreClient): Promise<NodeMachines> {
  const ids = await store.query<{ cluster: string; node: string; uid: string; providerId: string }>(IDS);
  return new Map(ids.map((row) => [keyOf(row), cloudMachineOf(row.providerId)!.machine]));
}

/** Reads the times of nodes over whole hours. Fails with a `StoreError`. */
export async function readNodes(
  store: StoreClient,
  span: { readonly from: number; readonly until: number },
  machines: NodeMachines,
): Promise<MachineNodes> {
  const times = await store.query<NodeTime>(TIMES, span);
  const byId = groupedBy(times, (time) => machines.get(keyOf(time)));
  const byName = groupedBy(times, ({ node }) => node);
  const known = new Set(machines.values());
  return {
    of: (machine) => (known.has(machine) ? byId.get(machine) : byName.get(nameOf(machine))) ?? [],
    has: (machine) => known.has(machine) || byName.has(nameOf(machine)),
  };
}

function nameOf(machine: string): string {
  return machine.slice(machine.lastIndexOf("/") + 1);
}

function keyOf({ cluster, node, uid }: { readonly cluster: string; readonly node: string; readonly uid: string }) {
  return JSON.stringify([cluster, node, uid]);
}
