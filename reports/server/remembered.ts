import { LRUCache } from "lru-cache";

/** A cache of answers by ledger version. */
export interface Remembered {
  /**
   * Returns the result of `make` for this key and ledger version. For several requests at a time, it is made once. Failures are not remembered.
   * `weigh` returns its number of bytes.
   */
  of<Value extends object>(
    ledgerVersion: string,
    key: string,
    make: () => Promise<Value>,
    weigh: (value: Value) => number,
  ): Promise<Value>;
  /** Returns the remembered value of a ledger version that may have ended; undefined if there is none. */
  past<Value extends object>(ledgerVersion: string, key: string): Promise<Value> | undefined;
}

/** The size of an answer beside its own bytes: its key, and its entries in the map and the list. */
const OVERHEAD_BYTES = 500;

/** Creates a cache of at most `mostBytes` bytes. The least recently used answer is removed first. */
export function createRemembered(mostBytes: number): Remembered {
  const done = new LRUCache<string, Promise<object>>({ maxSize: mostBytes });
  const making = new Map<string, Promise<object>>();
  const nameOf = (ledgerVersion: string, key: string): string => `${ledgerVersion} ${key}`;
  return {
    of<Value extends object>(
      ledgerVersion: string,
      key: string,
      make: () => Promise<Value>,
      weigh: (value: Value) => number,
    ): Promise<Value> {
      const name = nameOf(ledgerVersion, key);
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
    past<Value extends object>(ledgerVersion: string, key: string) {
      return done.get(nameOf(ledgerVersion, key)) as Promise<Value> | undefined;
    },
  };
}
