import {
  decodeClusterFact,
  decodeInventory,
  decodeWorkload,
  FACT_SCHEMA_VERSION,
} from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { Bus, Follower, ReceivedMessage } from "../../runtime/bus/bus.ts";

/** The reason why a message of a facts topic is skipped here. The intake of facts turns broken messages into dead letters. */
export type PassedOver = "broken-checksum" | "not-a-fact" | "not-processed" | "future-schema";

/** The events of a follower of facts. */
export interface FollowedFactsEvents {
  onPassedOver(reason: PassedOver, message: ReceivedMessage): void;
}

/** A listener that gets every fact on the bus, in any order and possibly more than once. */
export interface FactListener {
  workload(fact: WorkloadFact): void;
  inventory(fact: InventoryFact): void;
  clusterFact(fact: ClusterFact): void;
  /** Gets the tombstone of an object: no more facts follow. `key` is the key on the topic. */
  tombstone(of: "workload" | "inventory" | "cluster", key: string): void;
}

/**
 * Reads the topics of facts from their beginning and continues as they grow. Resolves when the listeners have every fact that the topics
 * held at the time of the call. Fails with a `BusError`.
 */
export async function followFacts(
  bus: Bus,
  listeners: readonly FactListener[],
  events: FollowedFactsEvents,
): Promise<{ stop(): Promise<void> }> {
  const followers: Follower[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(followers.map((follower) => follower.close()));
  };
  try {
    for (const [topic, report] of Object.entries(READERS)) {
      const follower = await bus.follow(topic, (messages) => {
        for (const message of messages) {
          const reason = read(message, report, listeners);
          if (reason !== undefined) events.onPassedOver(reason, message);
        }
        return Promise.resolve();
      });
      followers.push(follower);
    }
    await Promise.all(followers.map(({ caughtUp }) => caughtUp));
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

interface Reader {
  readonly object: Parameters<FactListener["tombstone"]>[0];
  /** Passes the fact to the listeners. Returns false if the bytes are not a fact. */
  readonly report: (listeners: readonly FactListener[], bytes: Uint8Array) => boolean;
}

const READERS: Readonly<Record<string, Reader>> = {
  [WORKLOADS_TOPIC]: {
    object: "workload",
    report: (listeners, bytes) => reportAll(decodeWorkload(bytes), listeners, (each, fact) => each.workload(fact)),
  },
  [INVENTORY_TOPIC]: {
    object: "inventory",
    report: (listeners, bytes) => reportAll(decodeInventory(bytes), listeners, (each, fact) => each.inventory(fact)),
  },
  [CLUSTER_TOPIC]: {
    object: "cluster",
    report: (listeners, bytes) =>
      reportAll(decodeClusterFact(bytes), listeners, (each, fact) => each.clusterFact(fact)),
  },
};

function reportAll<Fact extends object>(
  fact: Fact | { readonly invalid: string },
  listeners: readonly FactListener[],
  report: (listener: FactListener, fact: Fact) => void,
): boolean {
  if ("invalid" in fact) return false;
  for (const listener of listeners) report(listener, fact);
  return true;
}

function read(
  { key, value, intact, schemaVersion }: ReceivedMessage,
  { object, report }: Reader,
  listeners: readonly FactListener[],
): PassedOver | undefined {
  if (schemaVersion > FACT_SCHEMA_VERSION) return "future-schema";
  if (value === null) {
    for (const listener of listeners) listener.tombstone(object, key);
    return undefined;
  }
  if (!intact) return "broken-checksum";
  try {
    return report(listeners, value) ? undefined : "not-a-fact";
  } catch {
    return "not-processed";
  }
}
