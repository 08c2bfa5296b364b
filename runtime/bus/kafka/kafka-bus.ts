import kafkajs from "kafkajs";
import { createOpenParts } from "../open-parts.ts";
import { MOST_MESSAGE_BYTES, type Bus, type GroupMember } from "../bus.ts";
import { startFollower } from "./follower.ts";
import { kafkaConfig } from "./options.ts";
import type { KafkaBusOptions } from "./options.ts";
import { readRange } from "./range-reader.ts";
import { createSender } from "./sender.ts";
import { startSubscription } from "./subscription.ts";
import type { Subscription } from "./subscription.ts";
import { createTopicAdmin } from "./topic-admin.ts";

/**
 * Creates a {@link Bus} on a Kafka cluster, through kafkajs. It connects at the first use of each side, so a program can start while the
 * cluster is down. Operations then fail with `unavailable` and may be retried.
 */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const logger = options.logger.child({ bus: "kafka" });
  const kafka = new kafkajs.Kafka(kafkaConfig({ ...options, logger }));
  const maxMessageBytes = options.maxMessageBytes ?? MOST_MESSAGE_BYTES;
  const sendTimeoutMillis = options.sendTimeoutMillis ?? 10_000;
  const timing = {
    sessionTimeoutMillis: options.sessionTimeoutMillis ?? 30_000,
    rebalanceTimeoutMillis: options.rebalanceTimeoutMillis ?? 60_000,
  };
  const { replicationFactor, minInsyncReplicas } = options;
  const admin = createTopicAdmin(() => kafka.admin(), { replicationFactor, minInsyncReplicas, maxMessageBytes });
  const sender = createSender({
    kafka,
    checkTopic: (topic) => admin.checkKnown([topic]),
    compression: options.compression ?? "lz4",
    sendTimeoutMillis,
    maxMessageBytes,
  });
  const parts = createOpenParts();

  async function lagOf(subscription: Subscription, group: string) {
    const lags = [];
    for (const topic of new Set(subscription.feeds().map((owned) => owned.topic))) {
      const [ends, committed] = await Promise.all([admin.watermarks(topic), admin.committed(group, topic)]);
      for (const { partition, low, high } of ends) {
        if (subscription.feedOf({ topic, partition }) === undefined) continue;
        lags.push({ topic, partition, messages: high - Math.max(committed.get(partition) ?? low, low) });
      }
    }
    return lags;
  }

  async function closeRest(): Promise<void> {
    await sender.close();
    await admin.close();
  }

  return {
    async declare(topics) {
      parts.check();
      await admin.declare(topics);
    },
    async send(topic, messages) {
      parts.check();
      await sender.send(topic, messages);
    },
    async consume({ group, topics, handler }): Promise<GroupMember> {
      parts.check();
      await admin.checkKnown(topics);
      const subscription = await startSubscription({ kafka, admin, group, topics, handler, ...timing, logger });
      return parts.keep({
        commit: (partition, offset) => subscription.commit(partition, offset),
        pause: (partition) => subscription.feedOf(partition)?.pump.pause(),
        resume: (partition) => subscription.feedOf(partition)?.pump.resume(),
        lag: () => lagOf(subscription, group),
        generation: () => subscription.generation(),
        close: () => subscription.close(),
      });
    },
    async follow(topic, onMessages) {
      parts.check();
      return parts.keep(await startFollower({ kafka, admin, topic, onMessages, ...timing, logger }));
    },
    async read(partition, fromOffset, count) {
      parts.check();
      return readRange(kafka, admin, partition, fromOffset, count, 2 * sendTimeoutMillis);
    },
    async watermarks(topic) {
      parts.check();
      return admin.watermarks(topic);
    },
    close() {
      return parts.close(closeRest);
    },
  };
}
