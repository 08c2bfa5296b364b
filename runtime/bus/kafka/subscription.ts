import type { Consumer, ConsumerGroupJoinEvent, Kafka } from "kafkajs";
import type { Logger } from "pino";
import { BusError } from "../bus.ts";
import type { GroupHandler, TopicPartition } from "../bus.ts";
import { createAssignedFeeds, nameOf, type FedPartition } from "./assigned-feeds.ts";
import { toBusError, translating } from "./failures.ts";
import type { Feed } from "./feed.ts";
import { createGroupSession } from "./group-session.ts";
import type { TopicAdmin } from "./topic-admin.ts";

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
  feeds(): readonly FedPartition[];
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
  const { kafka, group, topics } = options;
  const logger = options.logger.child({ group });
  const heartbeatMillis = Math.max(100, Math.floor(options.sessionTimeoutMillis / 10));
  const session = createGroupSession(group, () => assigned.drain());
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
  const assigned = createAssignedFeeds({
    ...options,
    consumer,
    heartbeat: () => session.heartbeat(),
    heartbeatMillis,
    logger,
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }: ConsumerGroupJoinEvent) => {
    const partitions = Object.entries(payload.memberAssignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    assigned.assign(closing ? [] : partitions);
  });
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (payload.restart || closing) return;
    logger.error({ err: payload.error }, "The consumer has stopped; it is started again.");
    restartTimer = setTimeout(() => void restart(), RESTART_MILLIS);
  });

  const run = () => consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: assigned.onBatch });

  async function restart(): Promise<void> {
    try {
      await assigned.drain();
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
    feeds: () => [...assigned.feeds.values()],
    feedOf: (partition) => assigned.feeds.get(nameOf(partition))?.feed,
    generation: () => session.generation(),
    async commit(partition, offset) {
      if (!assigned.feeds.has(nameOf(partition))) {
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
      await assigned.drain();
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
