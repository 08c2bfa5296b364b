/** A queue that runs work of several keys concurrently, and the work of one key in order. */
export interface KeyedQueue {
  /** Adds work. Resolves when there is room for more. The work itself must not fail. */
  run(key: string, work: () => Promise<void>): Promise<void>;
  /** Resolves when everything that was added until now is done. */
  idle(): Promise<void>;
}

/** Creates a queue that runs the work of at most `width` keys at the same time. */
export function createKeyedQueue(width: number): KeyedQueue {
  const last = new Map<string, Promise<void>>();
  return {
    async run(key, work) {
      while (last.size >= width && !last.has(key)) await Promise.race(last.values());
      const done: Promise<void> = (last.get(key) ?? Promise.resolve()).then(work).finally(() => {
        if (last.get(key) === done) last.delete(key);
      });
      last.set(key, done);
    },
    async idle() {
      await Promise.all(last.values());
    },
  };
}
