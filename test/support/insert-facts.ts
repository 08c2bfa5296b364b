import type { InventoryFact } from "../../domain/inventory.ts";
import { encodeInventory, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { insertFacts, readFact } from "../../processors/ingest/facts.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** A fact as it is on the bus. */
interface FactMessage {
  readonly topic: string;
  readonly value: Uint8Array;
}

/** Stores facts as a processor would, at offsets of one partition of the bus from `first` on. */
export async function insertMessages(store: StoreClient, messages: readonly FactMessage[], first = 0): Promise<void> {
  const facts = messages.map(({ topic, value }, index) => {
    const read = readFact({ topic, value: Buffer.from(value), intact: true });
    if (read.kind !== "ok") throw new Error("a fact that was encoded is read");
    return { value: read.value, offset: first + index };
  });
  await insertFacts(store, facts);
}

/** Stores facts of pods as a processor would. */
export async function insertWorkloads(store: StoreClient, facts: readonly WorkloadFact[]): Promise<void> {
  await insertMessages(
    store,
    facts.map((fact) => ({ topic: WORKLOADS_TOPIC, value: encodeWorkload(fact).value })),
  );
}

/** Stores facts of nodes as a processor would. */
export async function insertInventory(store: StoreClient, facts: readonly InventoryFact[]): Promise<void> {
  await insertMessages(
    store,
    facts.map((fact) => ({ topic: INVENTORY_TOPIC, value: encodeInventory(fact).value })),
  );
}
