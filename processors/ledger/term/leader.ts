import { LEADER_GROUP, LEDGER_TOPIC } from "../../../domain/messages/topics.ts";
import { pause } from "../../../runtime/clock.ts";
import { BusError, type Bus, type GroupMember, type ReceivedMessage } from "../../../runtime/bus/bus.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { readBooksVersion } from "./books.ts";
import { recordElection } from "../runs/runs.ts";

/** The term of a leading processor. Its work ends soon after `signal` is aborted. */
export interface Term {
  readonly generation: number;
  readonly signal: AbortSignal;
}

/** The events of the leadership, for metrics and logs. */
export interface LeadershipEvents {
  onElected(generation: number): void;
  /** The term and its work have ended. */
  onDeposed(generation: number): void;
  /** A request that this release does not support. It is ignored. */
  onUnknownRequest(message: ReceivedMessage): void;
  /** An election or the work of a term failed. It is retried. */
  onError(error: unknown): void;
}

/** A processor's membership in the leadership. */
export interface Leadership {
  /** The generation of the current term; `undefined` while this processor does not lead. */
  readonly generation: number | undefined;
  /** Ends the term and leaves the group. */
  stop(): Promise<void>;
}

const PAUSE_MILLIS = 5_000;

/**
 * Takes part in the leadership. The owner of the one partition of `gpu.ledger` leads. The generation of a term is written into `runs`
 * before its work begins. When the partition is revoked, the signal is aborted and the new owner waits until the work has ended. A leader
 * that was paused for too long to be waited for writes its old generation, which readers ignore. If `lead` ends or fails early, a new term
 * begins under a new generation.
 */
export async function startLeadership(options: {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly now: () => number;
  readonly events: LeadershipEvents;
  readonly lead: (term: Term) => Promise<void>;
}): Promise<Leadership> {
  const { bus, store, now, events, lead } = options;
  let generation: number | undefined;
  let term: { readonly stopping: AbortController; readonly ended: Promise<void> } | undefined;

  async function holdTerms(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const elected = await elect(store, (await joined).generation(), now);
        if (signal.aborted) return;
        generation = elected;
        events.onElected(generation);
        await lead({ generation, signal });
      } catch (error) {
        if (!signal.aborted) events.onError(error);
      } finally {
        if (generation !== undefined) events.onDeposed(generation);
        generation = undefined;
      }
      await pause(PAUSE_MILLIS, signal);
    }
  }

  async function commit(message: ReceivedMessage): Promise<void> {
    try {
      await (await joined).commit(message, message.offset + 1);
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== "not-owner") throw error;
    }
  }

  const joined: Promise<GroupMember> = bus.consume({
    group: LEADER_GROUP,
    topics: [LEDGER_TOPIC],
    handler: {
      async onMessages(messages) {
        for (const message of messages) events.onUnknownRequest(message);
        const last = messages.at(-1);
        if (last !== undefined) await commit(last);
      },
      onAssigned() {
        const stopping = new AbortController();
        term = { stopping, ended: holdTerms(stopping.signal) };
      },
      async onRevoked() {
        const ending = term;
        term = undefined;
        ending?.stopping.abort();
        await ending?.ended;
      },
    },
  });
  const member = await joined;
  return {
    get generation() {
      return generation;
    },
    stop: () => member.close(),
  };
}

/**
 * Returns the generation of a new leader: the group's own, unless the store has one that is at least as high. A bus that has lost the
 * group's state restarts its count.
 */
export function nextGeneration(ofGroup: number, highestSeen: number): number {
  return Math.max(ofGroup, highestSeen + 1);
}

/** Chooses a generation and records it. */
async function elect(store: StoreClient, ofGroup: number, now: () => number): Promise<number> {
  const generation = nextGeneration(ofGroup, (await readBooksVersion(store)).generation);
  await recordElection(store, generation, now());
  return generation;
}
