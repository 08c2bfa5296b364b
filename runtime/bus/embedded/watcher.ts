import type { Logger } from "pino";
import type { Storage } from "./storage.ts";

/** Tells readers that the log has changed, whichever process changed it. */
export interface Watcher {
  /** Calls `listener` after changes until the returned function is called. Several changes may make one call. */
  onChange(listener: () => void): () => void;
  /** Looks now instead of at the next poll: a process tells its own readers what it has just sent. */
  check(): void;
  stop(): void;
}

/**
 * Polls the number of the log's last transaction, one cheap look for all readers of a process together; LMDB has no
 * way to be told by another process.
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
      logger.error({ err: error }, "The log can't be looked at.");
    }
  }

  // A process that only sends has nobody to tell.
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
