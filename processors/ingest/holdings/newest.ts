import { compareFacts, type OrderedFact } from "../../../domain/fact.ts";

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
  const orders = new Map<string, OrderedFact>();
  let ended = new Set<string>();
  let endedBefore = new Set<string>();
  let turnsAt = -Infinity;

  function turn(millis: number): void {
    for (const key of endedBefore) if (!ended.has(key) && orders.get(key)?.end !== undefined) orders.delete(key);
    endedBefore = ended;
    ended = new Set();
    turnsAt = millis + ENDS_REMEMBERED_MILLIS;
  }

  return {
    take(key, { epoch, resourceVersion, seenAtMillis, end }) {
      const order =
        end === undefined ? { epoch, resourceVersion, seenAtMillis } : { epoch, resourceVersion, seenAtMillis, end };
      const known = orders.get(key);
      if (known !== undefined && compareFacts(order, known) <= 0) return false;
      if (seenAtMillis >= turnsAt) turn(seenAtMillis);
      orders.set(key, order);
      if (end !== undefined) ended.add(key);
      return true;
    },
    forget: (key) => void orders.delete(key),
  };
}
