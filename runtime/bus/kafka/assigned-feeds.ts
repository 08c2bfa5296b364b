import type { Consumer, EachBatchPayload } from "kafkajs";
import type { Logger } from "pino";
import type { GroupHandler, TopicPartition } from "../bus.ts";
import { startFeed, type Feed } from "./feed.ts";
import { toReceived } from "./received.ts";
import type { TopicAdmin, Watermarks } from "./topic-admin.ts";

const RETRY_MILLIS = 2_000;

/** A partition that is fed to the handler. */
export type FedPartition = TopicPartition & { readonly feed: Feed };

/** The dependencies of {@link AssignedFeeds}. */
export interface AssignedFeedsOptions {
  readonly consumer: Consumer;
  readonly admin: TopicAdmin;
  readonly group: string;
  readonly handler: GroupHandler;
  /** Returns the start offset, for a group that commits nothing. Other groups use the committed offset. */
  readonly positionOf?: ((partition: TopicPartition) => number | undefined) | undefined;
  /** Keeps the membership during a drain. */
  readonly heartbeat: () => Promise<void>;
  readonly heartbeatMillis: number;
  readonly logger: Logger;
}

/** The partitions that are assigned to a member of a group, and their feeds. */
export interface AssignedFeeds {
  /** By {@link nameOf}. */
  readonly feeds: ReadonlyMap<string, FedPartition>;
  /** Starts the feeds of an assignment from the committed offsets. Tries again until it succeeds, or until the next assignment or drain. */
  assign(partitions: readonly TopicPartition[]): void;
  /** Ends the current batches, then gives all owned partitions to `onRevoked`. */
  drain(): Promise<void>;
  /** Takes a batch of kafkajs. */
  onBatch(payload: EachBatchPayload): Promise<void>;
}

/** Creates the feeds of a member without partitions. */
export function createAssignedFeeds(options: AssignedFeedsOptions): AssignedFeeds {
  const { consumer, admin, group, handler, positionOf, heartbeat, heartbeatMillis, logger } = options;
  const feeds = new Map<string, FedPartition>();
  // Counts joins, so that work for an assignment is dropped when the next assignment comes.
  let assignmentCount = 0;
  let draining: Promise<void> | undefined;

  async function drain(): Promise<void> {
    assignmentCount += 1;
    if (feeds.size === 0) return;
    const owned = [...feeds.values()];
    const heartbeats = setInterval(() => void heartbeat(), heartbeatMillis);
    try {
      await Promise.all(owned.map(({ feed }) => feed.pump.stop()));
      await handler.onRevoked?.(owned.map(({ topic, partition }) => ({ topic, partition })));
    } catch (error) {
      logger.error({ err: error }, "Partitions were not drained before they were released.");
    } finally {
      clearInterval(heartbeats);
      feeds.clear();
    }
  }

  async function start(partitions: readonly TopicPartition[], stillOwned: () => boolean): Promise<void> {
    const starts = [];
    for (const topic of new Set(partitions.map((owned) => owned.topic))) {
      const [committed, ends] = await Promise.all([admin.committed(group, topic), admin.watermarks(topic)]);
      for (const owned of partitions.filter((candidate) => candidate.topic === topic)) {
        starts.push({
          ...owned,
          low: lowOf(ends, owned.partition),
          committed: positionOf?.(owned) ?? committed.get(owned.partition),
        });
      }
    }
    if (!stillOwned()) return;
    handler.onAssigned?.(partitions);
    for (const { topic, partition, low, committed } of starts) {
      if (committed !== undefined && committed < low) handler.onJump?.({ topic, partition, from: committed, to: low });
      const offset = Math.max(committed ?? low, low);
      consumer.seek({ topic, partition, offset: String(offset) });
      feeds.set(nameOf({ topic, partition }), {
        topic,
        partition,
        feed: startFeed({
          offset,
          hand: (messages) => handler.onMessages(messages),
          throttle: (stopped) => throttle({ topic, partition }, stopped),
          logger: logger.child({ topic, partition }),
        }),
      });
    }
    consumer.resume(toKafkaPartitions(partitions));
  }

  function throttle(partition: TopicPartition, stopped: boolean): void {
    if (stopped) consumer.pause(toKafkaPartitions([partition]));
    else consumer.resume(toKafkaPartitions([partition]));
  }

  return {
    feeds,
    assign(partitions) {
      assignmentCount += 1;
      const count = assignmentCount;
      if (partitions.length === 0) return;
      // Paused before the first fetch, because kafkajs would answer an offset out of range by committing the oldest offset.
      consumer.pause(toKafkaPartitions(partitions));
      const begin = async (): Promise<void> => {
        try {
          await start(partitions, () => count === assignmentCount);
        } catch (error) {
          logger.error({ err: error }, "The committed offsets cannot be read; it is tried again.");
          setTimeout(() => count === assignmentCount && void begin(), RETRY_MILLIS);
        }
      };
      void begin();
    },
    drain: () => (draining ??= drain().finally(() => (draining = undefined))),
    async onBatch(payload) {
      const { batch } = payload;
      const { topic, partition } = batch;
      const feed = feeds.get(nameOf(batch))?.feed;
      if (feed === undefined || draining !== undefined) return;
      // The batch has the requested offset, although kafkajs's types omit it.
      const askedFor = Number((batch as typeof batch & { readonly fetchedOffset: string }).fetchedOffset);
      if (askedFor > feed.nextOffset()) {
        // kafkajs jumped to the oldest message after an offset out of range, or this is a fetch of an earlier assignment.
        const low = lowOf(await admin.watermarks(topic), partition);
        const from = feed.nextOffset();
        if (low > from) {
          handler.onJump?.({ topic, partition, from, to: low });
          feed.skipTo(low);
        }
        if (askedFor > feed.nextOffset()) {
          consumer.seek({ topic, partition, offset: String(feed.nextOffset()) });
          return;
        }
      }
      const messages = batch.messages.map((message) => toReceived(topic, partition, message));
      feed.push(messages, Number(batch.lastOffset()) + 1);
      payload.resolveOffset(batch.lastOffset());
    },
  };
}

/** Returns the map key of a partition. */
export function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

function toKafkaPartitions(partitions: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  return partitions.map(({ topic, partition }) => ({ topic, partitions: [partition] }));
}

function lowOf(watermarks: readonly Watermarks[], partition: number): number {
  return watermarks.find((ends) => ends.partition === partition)?.low ?? 0;
}
