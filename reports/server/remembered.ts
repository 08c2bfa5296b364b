import { LRUCache } from "lru-cache";
import { abortable } from "./asking.ts";

/** A cache of answers by ledger version. */
export interface Remembered {
  /**
   * Returns the result of `make` for this key and ledger version. For several requests at a time, it is made once. Failures are not remembered.
   * The signal of `make` is aborted when the signals of all requests are, which is when nobody waits for the result. `weigh` returns its
   * number of bytes.
   */
  of<Value extends object>(
    of: { readonly ledgerVersion: string; readonly key: string; readonly signal: AbortSignal },
    make: (signal: AbortSignal) => Promise<Value>,
    weigh: (value: Value) => number,
  ): Promise<Value>;
  /**
   * Returns the last result of `make` for this key, whatever the ledger version. One that is older than `fresh` is made again in the background, and
   * one that is older than `stale` is waited for.
   */
  recent<Value extends object>(
    of: { readonly key: string; readonly signal: AbortSignal; readonly ages: Ages },
    make: (signal: AbortSignal) => Promise<Value>,
    weigh: (value: Value) => number,
  ): Promise<Value>;
  /** Returns the remembered value of a ledger version that may have ended; undefined if there is none. */
  past<Value extends object>(ledgerVersion: string, key: string): Promise<Value> | undefined;
}

/** The ages in milliseconds from which a value is made again, and from which it is not returned any more. */
export interface Ages {
  readonly fresh: number;
  readonly stale: number;
}

/** A result, and the time at which its making began. */
interface Done {
  readonly made: Promise<object>;
  readonly begunAt: number;
}

/** An answer that is being made, and the number of requests that wait for it. */
interface Making {
  readonly made: Promise<object>;
  readonly stopping: AbortController;
  waiting: number;
}

/** The size of an answer beside its own bytes: its key, and its entries in the map and the list. */
const OVERHEAD_BYTES = 500;

/** Creates a cache of at most `mostBytes` bytes. The least recently used answer is removed first. `now` is a clock in milliseconds. */
export function createRemembered(mostBytes: number, now = (): number => performance.now()): Remembered {
  const done = new LRUCache<string, Done>({ maxSize: mostBytes });
  const making = new Map<string, Making>();
  const nameOf = (ledgerVersion: string, key: string): string => `${ledgerVersion} ${key}`;

  function begin<Value extends object>(
    name: string,
    make: (signal: AbortSignal) => Promise<Value>,
    weigh: (value: Value) => number,
  ): Making {
    const stopping = abortable();
    const begunAt = now();
    const made = make(stopping.signal);
    const current = { made, stopping, waiting: 0 };
    making.set(name, current);
    void made
      .then((value) => done.set(name, { made, begunAt }, { size: weigh(value) + name.length + OVERHEAD_BYTES }))
      .catch(() => {})
      .finally(() => forget(name, current));
    return current;
  }

  function forget(name: string, current: Making): void {
    if (making.get(name) === current) making.delete(name);
  }

  function waitFor(name: string, current: Making, signal: AbortSignal): void {
    const leave = (): void => {
      current.waiting -= 1;
      if (current.waiting > 0) return;
      forget(name, current);
      current.stopping.abort();
    };
    current.waiting += 1;
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }

  return {
    of<Value extends object>(
      { ledgerVersion, key, signal }: { ledgerVersion: string; key: string; signal: AbortSignal },
      make: (signal: AbortSignal) => Promise<Value>,
      weigh: (value: Value) => number,
    ): Promise<Value> {
      const name = nameOf(ledgerVersion, key);
      const known = done.get(name);
      if (known !== undefined) return known.made as Promise<Value>;
      const current = making.get(name) ?? begin(name, make, weigh);
      waitFor(name, current, signal);
      return current.made as Promise<Value>;
    },
    recent<Value extends object>(
      { key, signal, ages }: { key: string; signal: AbortSignal; ages: Ages },
      make: (signal: AbortSignal) => Promise<Value>,
      weigh: (value: Value) => number,
    ): Promise<Value> {
      const name = nameOf("recent", key);
      const known = done.get(name);
      const age = known === undefined ? Infinity : now() - known.begunAt;
      if (known !== undefined && age < ages.fresh) return known.made as Promise<Value>;
      const current = making.get(name) ?? begin(name, make, weigh);
      if (known !== undefined && age < ages.stale) return known.made as Promise<Value>;
      waitFor(name, current, signal);
      return current.made as Promise<Value>;
    },
    past<Value extends object>(ledgerVersion: string, key: string) {
      return done.get(nameOf(ledgerVersion, key))?.made as Promise<Value> | undefined;
    },
  };
}
