import type { Logger } from "pino";
import { BusError } from "../bus.ts";
import type { Follower, ReceivedMessage } from "../bus.ts";
import { createArrivals } from "./arrivals.ts";
import { headOf } from "./partition-log.ts";
import { startPump } from "../pump.ts";
import { readPage } from "./reading.ts";
import type { Storage, TopicRecord } from "./storage.ts";
import type { Watcher } from "./watcher.ts";

/** Reads every partition of a topic from its oldest message on, then new messages, until it is closed. */
export function startFollower(
  storage: Storage,
  watcher: Watcher,
  topic: TopicRecord,
  onMessages: (messages: readonly ReceivedMessage[]) => Promise<void>,
  logger: Logger,
): Follower {
  const heads = storage.read(() =>
    Array.from({ length: topic.partitions }, (_, partition) => ({
      partition,
      ...headOf(storage, topic.id, partition),
    })),
  );
  const behind = new Map(heads.filter(({ low, next }) => low < next).map(({ partition, next }) => [partition, next]));
  let arrive = (): void => undefined;
  let giveUp = (_error: BusError): void => undefined;
  const caughtUp = new Promise<void>((resolve, reject) => {
    arrive = resolve;
    giveUp = reject;
  });
  // A caller that closes a follower early may not be waiting for this promise.
  caughtUp.catch(() => undefined);
  if (behind.size === 0) arrive();

  const pumps = heads.map(({ partition, low }) =>
    startPump({
      offset: low,
      read(offset) {
        // Everything before `offset` has been handled by now.
        if (offset >= (behind.get(partition) ?? Infinity)) {
          behind.delete(partition);
          if (behind.size === 0) arrive();
        }
        const page = readPage(storage, topic, partition, offset);
        if (page.jump !== undefined)
          logger.warn({ jump: page.jump }, "Retention deleted messages before a follower read them.");
        return page;
      },
      hand: onMessages,
      logger: logger.child({ topic: topic.name, partition }),
    }),
  );
  const arrivals = createArrivals(storage, [topic]);
  const stopWatching = watcher.onChange(() => {
    for (const { partition } of arrivals()) pumps[partition]?.wake();
  });

  return {
    caughtUp,
    async close() {
      stopWatching();
      await Promise.all(pumps.map((pump) => pump.stop()));
      giveUp(new BusError("closed", `The follower of ${topic.name} is closed.`, { retriable: false }));
    },
  };
}
