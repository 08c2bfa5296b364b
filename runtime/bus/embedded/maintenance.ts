import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";
import { compactPartition } from "./compaction.ts";
import { removeExpired } from "./retention.ts";
import type { Storage } from "./storage.ts";

/** The work that keeps the log small, on a timer that never overlaps itself. */
export interface Maintenance {
  /** Stops the timer and waits for the current pass. */
  stop(): Promise<void>;
}

/**
 * Starts retention and compaction. Every process with the open log starts one, and a record with a heartbeat lets only one of them work. If
 * that one has no heartbeat for three intervals, another takes over. Two at once would do no harm, because each removal checks again inside
 * its transaction.
 */
export function startMaintenance(
  storage: Storage,
  options: { readonly intervalMillis: number; readonly clock: Clock; readonly logger: Logger },
): Maintenance {
  const { intervalMillis, clock, logger } = options;
  const holder = randomUUID();
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer = setTimeout(run, intervalMillis);

  function run(): void {
    running = pass()
      .catch((error: unknown) => logger.warn({ err: error }, "The maintenance of the log failed; it is tried again."))
      .finally(() => {
        if (!stopped) timer = setTimeout(run, intervalMillis);
      });
  }

  async function pass(): Promise<void> {
    if (!(await takeLease())) return;
    storage.dropDeadReaders();
    const nowMillis = clock.nowMillis();
    for (const { value: topic } of storage.read(() => [...storage.topics.getRange({})])) {
      const removeSome = topic.cleanup === "compact" ? compactPartition : removeExpired;
      for (let partition = 0; partition < topic.partitions; partition += 1) {
        while (!stopped && (await removeSome(storage, topic, partition, nowMillis)) > 0);
      }
    }
  }

  function takeLease(): Promise<boolean> {
    return storage.write(() => {
      const now = clock.monotonicMillis();
      const aliveAt = storage.meta.get("maintenanceAliveAtMillis");
      const free =
        typeof aliveAt !== "number" ||
        aliveAt > now ||
        now - aliveAt > 3 * intervalMillis ||
        storage.meta.get("maintenanceHolder") === holder;
      if (!free) return false;
      void storage.meta.put("maintenanceHolder", holder);
      void storage.meta.put("maintenanceAliveAtMillis", now);
      return true;
    });
  }

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
