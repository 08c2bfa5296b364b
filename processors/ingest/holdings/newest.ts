import { compareFacts, type OrderedFact } from "../../../domain/fact.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** A memory of the newest fact of each object. It detects late facts and replays. */
export interface Newest {
  /** Returns whether the fact is newer than all earlier facts of this object. If so, it is recorded. */
  take(key: string, fact: OrderedFact): boolean;
  /** Removes an object at its tombstone. */
  forget(key: string): void;
}

/** The shortest time that an ended object is remembered, by the time of the facts. */
export const ENDS_REMEMBERED_MILLIS = 6 * HOUR_MILLIS;

/**
 * Creates a memory of newest facts. Objects that exist are remembered until their end or tombstone. Ended objects, whose tombstones may be
 * days away, are remembered for 6 to 12 hours by the time of the incoming facts.
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
