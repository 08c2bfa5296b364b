import { randomUUID } from "node:crypto";
import type { Kafka } from "kafkajs";
import type { Logger } from "pino";
import { BusError } from "../bus.ts";
import type { Follower, ReceivedMessage } from "../bus.ts";
import { startSubscription } from "./subscription.ts";
import type { TopicAdmin } from "./topic-admin.ts";

const LOOK_MILLIS = 50;

/**
 * Reads a whole topic in its own group that never commits, because kafkajs cannot read without a group
 * (https://github.com/tulios/kafkajs/issues/371). The group is deleted when the follower is closed. If the process was killed, the empty
 * group stays until the broker drops it.
 */
export async function startFollower(options: {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly topic: string;
  readonly onMessages: (messages: readonly ReceivedMessage[]) => Promise<void>;
  readonly sessionTimeoutMillis: number;
  readonly rebalanceTimeoutMillis: number;
  readonly logger: Logger;
}): Promise<Follower> {
  const { admin, topic, logger } = options;
  const group = `gpu-ledger-follow-${randomUUID()}`;
  const ends = await admin.watermarks(topic);
  const behind = new Map(ends.filter(({ low, high }) => low < high).map(({ partition, high }) => [partition, high]));
  const positions = new Map<number, number>();
  const subscription = await startSubscription({
    ...options,
    group,
    topics: [topic],
    positionOf: ({ partition }) => positions.get(partition),
    handler: {
      async onMessages(messages) {
        await options.onMessages(messages);
        const last = messages.at(-1);
        if (last !== undefined) positions.set(last.partition, last.offset + 1);
      },
      onJump: (jump) => logger.warn({ jump }, "Retention deleted messages before a follower read them."),
    },
  });

  let giveUp = (_error: BusError): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  const caughtUp = new Promise<void>((resolve, reject) => {
    giveUp = reject;
    const look = (): void => {
      for (const [partition, high] of behind) {
        if ((subscription.feedOf({ topic, partition })?.pump.position() ?? 0) >= high) behind.delete(partition);
      }
      if (behind.size === 0) resolve();
      else timer = setTimeout(look, LOOK_MILLIS);
    };
    look();
  });
  // A caller that closes a follower early may not be waiting for this promise.
  caughtUp.catch(() => undefined);

  return {
    caughtUp,
    async close() {
      clearTimeout(timer);
      await subscription.close();
      await admin.forgetGroup(group);
      giveUp(new BusError("closed", `The follower of ${topic} is closed.`, { retriable: false }));
    },
  };
}
