import type { Logger } from "pino";
import type { Storage } from "./storage.ts";

/** A watcher that notifies readers of changes of the log by any process. */
export interface Watcher {
  /** Calls `listener` after changes until the returned function is called. Several changes may cause one call. */
  onChange(listener: () => void): () => void;
  /** Checks now instead of at the next poll, so that a process notifies its own readers of its own messages at once. */
  check(): void;
  stop(): void;
}

/**
 * Starts a watcher. It polls the number of the log's last transaction, with one cheap read for all readers of a process. LMDB has no
 * notifications between processes.
 */
export function startWatcher(storage: Storage, pollMillis: number, logger: Logger): Watcher {
  const listeners = new Set<() => void>();
  let seen = storage.version();

  function check(): void {
    try {
      const version = storage.version();
      if (version === seen) return;
      seen = version;
      for (const listener of listeners) listener();
    } catch (error) {
      logger.error({ err: error }, "The log cannot be checked.");
    }
  }

  // A process that only sends has no listeners.
  const timer = setInterval(() => listeners.size > 0 && check(), pollMillis);
  return {
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    check,
    stop: () => clearInterval(timer),
  };
}
