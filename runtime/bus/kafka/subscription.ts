import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from "kafkajs";
import type { Logger } from "pino";
import { BusError } from "../bus.ts";
import type { GroupHandler, TopicPartition } from "../bus.ts";
import { toBusError, translating } from "./failures.ts";
import { startFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";
import { createGroupSession } from "./group-session.ts";
import { toReceived } from "./received.ts";
import type { TopicAdmin, Watermarks } from "./topic-admin.ts";

const RESTART_MILLIS = 2_000;
/** How long a closing member waits for its leave. */
const LEAVE_MILLIS = 2_500;
/** How long a fetch waits for new messages. A partition that was throttled waits for it too. */
const FETCH_WAIT_MILLIS = 100;

/** The options of a subscription. */
export interface SubscriptionOptions {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly group: string;
  readonly topics: readonly string[];
  readonly handler: GroupHandler;
  /** Returns the start offset, for a group that commits nothing. Other groups use the committed offset. */
  readonly positionOf?: (partition: TopicPartition) => number | undefined;
  readonly sessionTimeoutMillis: number;
  readonly rebalanceTimeoutMillis: number;
  readonly logger: Logger;
}

/** A consumer in a group that feeds its partitions to a handler. */
export interface Subscription {
  /** Returns the partitions that are fed now, with their feeds. */
  feeds(): readonly (TopicPartition & { readonly feed: Feed })[];
  feedOf(partition: TopicPartition): Feed | undefined;
  generation(): number;
  commit(partition: TopicPartition, offset: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Joins a group with kafkajs and feeds the assigned partitions to the handler.
 *
 * The guarantees: on a rebalance (kafkajs uses the eager protocol, so it takes all partitions) delivery stops, the current batches end, and
 * `onRevoked` gets all owned partitions. Only when it has resolved does the member join again; heartbeats continue in the meantime. The
 * group waits up to the rebalance timeout. A member that takes longer is removed, and its commits then fail with `not-owner`. A member that
 * was stalled beyond its session loses its partitions without a callback, and notices it at its next heartbeat. Until then two members may
 * work on one partition, but commits of the previous one fail. Nothing is lost in either case, because the next owner starts at the last
 * commit.
 */
export async function startSubscription(options: SubscriptionOptions): Promise<Subscription> {
  const { kafka, admin, group, topics, handler } = options;
  const logger = options.logger.child({ group });
  const heartbeatMillis = Math.max(100, Math.floor(options.sessionTimeoutMillis / 10));
  const session = createGroupSession(group, drain);
  const feeds = new Map<string, TopicPartition & { readonly feed: Feed }>();
  // Counts joins, so that work for an assignment is dropped when the next assignment comes.
  let assignmentCount = 0;
  let draining: Promise<void> | undefined;
  let closing = false;
  let restartTimer: NodeJS.Timeout | undefined;
  let leaveTimer: NodeJS.Timeout | undefined;

  const consumer: Consumer = kafka.consumer({
    groupId: group,
    partitionAssigners: [session.assigner],
    sessionTimeout: options.sessionTimeoutMillis,
    rebalanceTimeout: Math.max(options.rebalanceTimeoutMillis, options.sessionTimeoutMillis),
    heartbeatInterval: heartbeatMillis,
    maxWaitTimeInMs: FETCH_WAIT_MILLIS,
    allowAutoTopicCreation: false,
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }: ConsumerGroupJoinEvent) => assigned(payload.memberAssignment));
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (payload.restart || closing) return;
    logger.error({ err: payload.error }, "The consumer has stopped; it is started again.");
    restartTimer = setTimeout(() => void restart(), RESTART_MILLIS);
  });

  function drain(): Promise<void> {
    draining ??= drainOnce().finally(() => (draining = undefined));
    return draining;
  }

  async function drainOnce(): Promise<void> {
    assignmentCount += 1;
    if (feeds.size === 0) return;
    const owned = [...feeds.values()];
    const heartbeats = setInterval(() => void session.heartbeat(), heartbeatMillis);
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

  function assigned(assignment: Readonly<Record<string, readonly number[]>>): void {
    assignmentCount += 1;
    const count = assignmentCount;
    const partitions = Object.entries(assignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    if (closing || partitions.length === 0) return;
    // Paused before the first fetch, because kafkajs would answer an offset out of range by committing the oldest offset.
    consumer.pause(toKafkaPartitions(partitions));
    const begin = async (): Promise<void> => {
      try {
        await startFeeding(partitions, () => count === assignmentCount);
      } catch (error) {
        logger.error({ err: error }, "The committed offsets cannot be read; it is tried again.");
        setTimeout(() => count === assignmentCount && void begin(), RESTART_MILLIS);
      }
    };
    void begin();
  }

  async function startFeeding(partitions: readonly TopicPartition[], stillOwned: () => boolean): Promise<void> {
    const starts = [];
    for (const topic of new Set(partitions.map((owned) => owned.topic))) {
      const [committed, ends] = await Promise.all([admin.committed(group, topic), admin.watermarks(topic)]);
      for (const owned of partitions.filter((candidate) => candidate.topic === topic)) {
        starts.push({
          ...owned,
          low: lowOf(ends, owned.partition),
          committed: options.positionOf?.(owned) ?? committed.get(owned.partition),
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

  async function onBatch(payload: EachBatchPayload): Promise<void> {
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
  }

  const run = () => consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: onBatch });

  async function restart(): Promise<void> {
    try {
      await drain();
      await consumer.connect();
      await run();
    } catch (error) {
      logger.error({ err: error }, "The consumer cannot be started; it is tried again.");
      if (!closing) restartTimer = setTimeout(() => void restart(), RESTART_MILLIS);
    }
  }

  try {
    await translating(`joining ${group}`, async () => {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: true });
      await run();
    });
  } catch (error) {
    closing = true;
    await consumer.disconnect().catch(() => undefined);
    throw error;
  }

  return {
    feeds: () => [...feeds.values()],
    feedOf: (partition) => feeds.get(nameOf(partition))?.feed,
    generation: () => session.generation(),
    async commit(partition, offset) {
      if (!feeds.has(nameOf(partition))) {
        throw new BusError("not-owner", `This member of ${group} does not own ${nameOf(partition)}.`, {
          retriable: false,
        });
      }
      try {
        await session.commit(partition, offset);
      } catch (error) {
        throw toBusError(error, "committing");
      }
    },
    async close() {
      if (closing) return;
      closing = true;
      clearTimeout(restartTimer);
      await drain();
      // While the group waits for a lost member, the broker does not answer on the connection of a join: a leave would take as long as that
      // member's session. Everything is drained, so a late leave is abandoned and the group removes this member.
      const late = new Promise<void>((_, reject) => {
        leaveTimer = setTimeout(() => reject(new Error("The group rebalances and did not answer.")), LEAVE_MILLIS);
      });
      await Promise.race([consumer.disconnect(), late])
        .catch((error: unknown) => logger.warn({ err: error }, "The group was not left."))
        .finally(() => clearTimeout(leaveTimer));
    },
  };
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

function toKafkaPartitions(partitions: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  return partitions.map(({ topic, partition }) => ({ topic, partitions: [partition] }));
}

function lowOf(watermarks: readonly Watermarks[], partition: number): number {
  return watermarks.find((ends) => ends.partition === partition)?.low ?? 0;
}
