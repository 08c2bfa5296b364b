import type { InventoryFact } from "../../domain/inventory.ts";
import { encodeInventory, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { readFact } from "../../processors/facts.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

function rowOf(topic: string, { value }: { readonly value: Uint8Array }): object {
  const read = readFact({ topic, value: Buffer.from(value), intact: true });
  if (read.kind !== "ok") throw new Error("a fact that was encoded is read");
  return read.value.row;
}

/** Stores facts of pods as a processor would. */
export async function insertWorkloads(store: StoreClient, facts: readonly WorkloadFact[]): Promise<void> {
  const rows = facts.map((fact) => rowOf(WORKLOADS_TOPIC, encodeWorkload(fact)));
  await store.insertJson("workload_facts", rows);
}

/** Stores facts of nodes as a processor would. */
export async function insertInventory(store: StoreClient, facts: readonly InventoryFact[]): Promise<void> {
  const rows = facts.map((fact) => rowOf(INVENTORY_TOPIC, encodeInventory(fact)));
  await store.insertJson("inventory_facts", rows);
}
