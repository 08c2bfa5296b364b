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
import { createFactRegistry, type AnyFact, type RegistryMessage, type FactRegistry } from "./fact-registry.ts";

/** The topics of facts. */
export const FACT_TOPICS = [WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC] as const;

/** The facts that were sent for one cluster, with one registry for each topic. */
export interface FactRegistries {
  readonly workloads: FactRegistry<WorkloadFact>;
  readonly inventory: FactRegistry<InventoryFact>;
  readonly cluster: FactRegistry<ClusterFact>;
  readonly all: readonly Pick<FactRegistry<AnyFact>, "living" | "removeEnded" | "highestEpoch">[];
}

/** Creates empty registries of a cluster for one term. They pass their messages to `send`. */
export function createFactRegistries(
  cluster: string,
  { epoch, renew }: { readonly epoch: () => number; readonly renew: () => void },
  send: (topic: (typeof FACT_TOPICS)[number], message: RegistryMessage) => void,
): FactRegistries {
  const workloads = createFactRegistry<WorkloadFact>({
    cluster,
    epoch,
    renew,
    keyOf: workloadKey,
    resourceOf: () => "pods",
    send: (message) => send(WORKLOADS_TOPIC, message),
  });
  const inventory = createFactRegistry<InventoryFact>({
    cluster,
    epoch,
    renew,
    keyOf: inventoryKey,
    resourceOf: () => "nodes",
    send: (message) => send(INVENTORY_TOPIC, message),
  });
  const ofCluster = createFactRegistry<ClusterFact>({
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
 * Reads the earlier facts from the bus into the registries, up to the current end of the topics. Messages that are not facts are skipped; the
 * processors turn them into dead letters. Fails with a `BusError`.
 */
export async function restoreFactRegistries(
  bus: Pick<Bus, "follow">,
  registries: FactRegistries,
  signal: AbortSignal,
): Promise<void> {
  const read = async <Fact extends AnyFact>(
    topic: string,
    decode: (bytes: Uint8Array) => Fact | { readonly invalid: string },
    registry: FactRegistry<Fact>,
  ): Promise<void> => {
    const follower = await bus.follow(topic, (messages) => {
      for (const { value, intact } of messages) {
        const fact = value === null || !intact ? undefined : decode(value);
        if (fact !== undefined && !("invalid" in fact)) registry.restore(fact);
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
    read(WORKLOADS_TOPIC, decodeWorkload, registries.workloads),
    read(INVENTORY_TOPIC, decodeInventory, registries.inventory),
    read(CLUSTER_TOPIC, decodeClusterFact, registries.cluster),
  ]);
}
