import { LRUCache } from "lru-cache";

/** Answers that are remembered as long as one publication of the ledger stands, and a little longer. */
export interface Remembered {
  /**
   * What `make` gave for this key and edition; of several who ask at once one makes it. What fails is not remembered. `weigh` says how
   * many bytes it takes.
   */
  of<Value extends object>(
    edition: string,
    key: string,
    make: () => Promise<Value>,
    weigh: (value: Value) => number,
  ): Promise<Value>;
  /** What is remembered of an edition that may be over; undefined where nothing is. */
  past<Value extends object>(edition: string, key: string): Promise<Value> | undefined;
}

/** What an answer takes beside its own bytes: its key, and its places in the map and the list. */
const OVERHEAD_BYTES = 500;

/** Remembers up to so many bytes; what was not asked for the longest time goes first. */
export function createRemembered(mostBytes: number): Remembered {
  const done = new LRUCache<string, Promise<object>>({ maxSize: mostBytes });
  const making = new Map<string, Promise<object>>();
  const nameOf = (edition: string, key: string): string => `${edition} ${key}`;
  return {
    of<Value extends object>(
      edition: string,
      key: string,
      make: () => Promise<Value>,
      weigh: (value: Value) => number,
    ): Promise<Value> {
      const name = nameOf(edition, key);
      const known = done.get(name) ?? making.get(name);
      if (known !== undefined) return known as Promise<Value>;
      const made = make();
      making.set(name, made);
      void made
        .then((value) => done.set(name, made, { size: weigh(value) + name.length + OVERHEAD_BYTES }))
        .catch(() => {})
        .finally(() => making.delete(name));
      return made;
    },
    past<Value extends object>(edition: string, key: string) {
      return done.get(nameOf(edition, key)) as Promise<Value> | undefined;
    },
  };
}
