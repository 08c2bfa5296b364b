import {
  decodeClusterFact,
  decodeInventory,
  decodeWorkload,
  FACT_SCHEMA_VERSION,
} from "../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../domain/messages/topics.ts";
import type { Holdings } from "../domain/holding.ts";
import type { Bus, Follower, ReceivedMessage } from "../runtime/bus/bus.ts";
import { createHoldings, type HoldingsIndex } from "./holdings/holdings.ts";

/** Why a message of a fact's topic tells this instance nothing. The intake of facts buries what is broken. */
export type PassedOver = "broken-checksum" | "not-a-fact" | "future-schema";

/** What a follower of facts tells. */
export interface FollowedFactsEvents {
  onPassedOver(reason: PassedOver, message: ReceivedMessage): void;
}

/** All facts that the bus has, as they are now. */
export interface FollowedFacts {
  readonly holdings: Holdings;
  stop(): Promise<void>;
}

/**
 * Reads the topics of facts from their beginning and goes on as they grow. Resolves when everything is known that they
 * held at the time of the call; fails with a `BusError`.
 */
export async function followFacts(bus: Bus, events: FollowedFactsEvents): Promise<FollowedFacts> {
  const holdings = createHoldings();
  const followers: Follower[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(followers.map((follower) => follower.close()));
  };
  try {
    for (const [topic, tell] of Object.entries(READERS)) {
      const follower = await bus.follow(topic, (messages) => {
        for (const message of messages) {
          const reason = read(message, tell, holdings);
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
  return { holdings, stop };
}

interface Reader {
  readonly object: Parameters<HoldingsIndex["tombstone"]>[0];
  /** False where the bytes are no fact. */
  readonly tell: (holdings: HoldingsIndex, bytes: Uint8Array) => boolean;
}

const READERS: Readonly<Record<string, Reader>> = {
  [WORKLOADS_TOPIC]: {
    object: "workload",
    tell: (holdings, bytes) => given(decodeWorkload(bytes), holdings.workload),
  },
  [INVENTORY_TOPIC]: {
    object: "inventory",
    tell: (holdings, bytes) => given(decodeInventory(bytes), holdings.inventory),
  },
  [CLUSTER_TOPIC]: {
    object: "cluster",
    tell: (holdings, bytes) => given(decodeClusterFact(bytes), holdings.clusterFact),
  },
};

function given<Fact extends object>(fact: Fact | { readonly invalid: string }, take: (fact: Fact) => void): boolean {
  if ("invalid" in fact) return false;
  take(fact);
  return true;
}

function read(message: ReceivedMessage, { object, tell }: Reader, holdings: HoldingsIndex): PassedOver | undefined {
  const { key, value, intact, schemaVersion } = message;
  if (schemaVersion > FACT_SCHEMA_VERSION) return "future-schema";
  if (value === null) {
    holdings.tombstone(object, key);
    return undefined;
  }
  if (!intact) return "broken-checksum";
  return tell(holdings, value) ? undefined : "not-a-fact";
}
