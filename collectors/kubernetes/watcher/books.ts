import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import {
  clusterFactKey,
  decodeClusterFact,
  decodeInventory,
  decodeWorkload,
  inventoryKey,
  workloadKey,
} from "../../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { Bus } from "../../../runtime/bus/bus.ts";
import { createFactBook, type AnyFact, type BookMessage, type FactBook } from "./fact-book.ts";

/** The topics of facts. */
export const FACT_TOPICS = [WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC] as const;

/** The facts that were sent for one cluster, with one book for each topic. */
export interface Books {
  readonly workloads: FactBook<WorkloadFact>;
  readonly inventory: FactBook<InventoryFact>;
  readonly cluster: FactBook<ClusterFact>;
  readonly all: readonly Pick<FactBook<AnyFact>, "living" | "removeEnded" | "highestEpoch">[];
}

/** Creates empty books of a cluster for one term. They pass their messages to `send`. */
export function createBooks(
  cluster: string,
  { epoch, renew }: { readonly epoch: () => number; readonly renew: () => void },
  send: (topic: (typeof FACT_TOPICS)[number], message: BookMessage) => void,
): Books {
  const workloads = createFactBook<WorkloadFact>({
    cluster,
    epoch,
    renew,
    keyOf: workloadKey,
    resourceOf: () => "pods",
    send: (message) => send(WORKLOADS_TOPIC, message),
  });
  const inventory = createFactBook<InventoryFact>({
    cluster,
    epoch,
    renew,
    keyOf: inventoryKey,
    resourceOf: () => "nodes",
    send: (message) => send(INVENTORY_TOPIC, message),
  });
  const ofCluster = createFactBook<ClusterFact>({
    cluster,
    epoch,
    renew,
    keyOf: clusterFactKey,
    resourceOf: ({ resource }) => resource,
    send: (message) => send(CLUSTER_TOPIC, message),
  });
  return { workloads, inventory, cluster: ofCluster, all: [workloads, inventory, ofCluster] };
}

/**
 * Reads the earlier facts from the bus into the books, up to the current end of the topics. Messages that are not facts are skipped; the
 * processors turn them into dead letters. Fails with a `BusError`.
 */
export async function restoreBooks(bus: Pick<Bus, "follow">, books: Books, signal: AbortSignal): Promise<void> {
  const read = async <Fact extends AnyFact>(
    topic: string,
    decode: (bytes: Uint8Array) => Fact | { readonly invalid: string },
    book: FactBook<Fact>,
  ): Promise<void> => {
    const follower = await bus.follow(topic, (messages) => {
      for (const { value, intact } of messages) {
        const fact = value === null || !intact ? undefined : decode(value);
        if (fact !== undefined && !("invalid" in fact)) book.restore(fact);
      }
      return Promise.resolve();
    });
    const stop = (): void => void follower.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await follower.caughtUp;
    } finally {
      signal.removeEventListener("abort", stop);
      await follower.close();
    }
  };
  await Promise.all([
    read(WORKLOADS_TOPIC, decodeWorkload, books.workloads),
    read(INVENTORY_TOPIC, decodeInventory, books.inventory),
    read(CLUSTER_TOPIC, decodeClusterFact, books.cluster),
  ]);
}
