import { compareFacts, type OrderedFact } from "../../domain/fact.ts";

/** Remembers of each object which of its facts was the newest, so that late ones and replays are told apart. */
export interface Newest {
  /** Whether the fact is newer than everything that was taken of this object; it is taken then. */
  take(key: string, fact: OrderedFact): boolean;
  /** Its tombstone: nothing will be said of it any more. */
  forget(key: string): void;
}

/** An object that has ended is remembered for so long, by the time of the facts, at least. */
export const ENDS_REMEMBERED_MILLIS = 6 * 3_600_000;

/**
 * A memory of newest facts. Objects that exist are remembered until their end or tombstone; those that have ended, whose
 * tombstones may be days away, for 6 to 12 hours by the time of the facts that come.
 */
export function createNewest(): Newest {
  const living = new Map<string, OrderedFact>();
  let ended = new Map<string, OrderedFact>();
  let endedBefore = new Map<string, OrderedFact>();
  let turnsAt = -Infinity;

  return {
    take(key, { epoch, resourceVersion, seenAtMillis, end }) {
      const order = { epoch, resourceVersion, seenAtMillis, ...(end === undefined ? {} : { end }) };
      const known = living.get(key) ?? ended.get(key) ?? endedBefore.get(key);
      if (known !== undefined && compareFacts(order, known) <= 0) return false;
      if (seenAtMillis >= turnsAt) {
        endedBefore = ended;
        ended = new Map();
        turnsAt = seenAtMillis + ENDS_REMEMBERED_MILLIS;
      }
      if (end === undefined) living.set(key, order);
      else living.delete(key);
      if (end === undefined) ended.delete(key);
      else ended.set(key, order);
      endedBefore.delete(key);
      return true;
    },
    forget(key) {
      for (const orders of [living, ended, endedBefore]) orders.delete(key);
    },
  };
}
