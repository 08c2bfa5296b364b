import type { Logger } from "pino";
import type { GroupHandler, GroupMember, ReceivedMessage, TopicPartition } from "../bus.ts";
import type { Clock } from "../../clock.ts";
import { createSignal } from "../signal.ts";
import { parsePartitionName, partitionName, surplus, takeable } from "./group-state.ts";
import { createArrivals } from "./arrivals.ts";
import { createMembership } from "./membership.ts";
import { headOf } from "./partition-log.ts";
import { startPump } from "../pump.ts";
import type { Pump } from "../pump.ts";
import { readPage } from "./reading.ts";
import type { Storage, TopicRecord } from "./storage.ts";
import type { Watcher } from "./watcher.ts";

/** The options of a member. */
export interface MemberOptions {
  readonly storage: Storage;
  readonly watcher: Watcher;
  readonly group: string;
  readonly topics: readonly TopicRecord[];
  readonly handler: GroupHandler;
  readonly sessionTimeoutMillis: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Joins a group and starts reading.
 *
 * The guarantees: a partition is held by at most one living member. On a rebalance, only the partitions that move are revoked. Their new
 * owner starts after the previous owner's `onRevoked` has resolved and its release is durable, or after its session has expired. A member
 * that was stalled for longer than its session notices it at its next step, has everything revoked (its commits fail with `not-owner`) and
 * joins again.
 */
export async function startMember(options: MemberOptions): Promise<GroupMember> {
  const { storage, watcher, handler, sessionTimeoutMillis } = options;
  const logger = options.logger.child({ group: options.group });
  const topicNames = options.topics.map(({ name }) => name);
  const signal = createSignal();
  const { pumps, topicOf, startReading, stopReading } = createReadings({ ...options, logger });
  const newMembership = () =>
    createMembership(storage, {
      group: options.group,
      topics: topicNames,
      sessionTimeoutMillis,
      clock: options.clock,
    });
  let membership = newMembership();
  let generation = 0;
  let lost = false;
  let closing = false;

  async function rejoin(): Promise<void> {
    logger.warn("This member's session has expired; it joins again.");
    await stopReading([...pumps.keys()]);
    membership = newMembership();
    await membership.join();
    lost = false;
  }

  async function step(): Promise<void> {
    if (lost) await rejoin();
    const state = membership.state();
    if (state.members[membership.memberId] === undefined) {
      lost = true;
      signal.set();
      return;
    }
    generation = state.generation;
    const leaving = surplus(state, membership.memberId);
    if (leaving.length > 0) {
      await stopReading(leaving.filter((name) => pumps.has(name)));
      await membership.release(leaving);
    }
    const coming = takeable(state, membership.memberId).filter((name) => !pumps.has(name));
    if (coming.length === 0) return;
    const taken = await membership.take(coming);
    if (taken.length === 0) return;
    handler.onAssigned?.(taken.map(({ topic, partition }) => ({ topic, partition })));
    for (const { committed, ...partition } of taken) startReading(partition, committed);
  }

  async function run(): Promise<void> {
    while (!closing) {
      try {
        await step();
        await signal.wait();
      } catch (error) {
        logger.error({ err: error }, "A step of the group's membership failed; it is tried again.");
        await signal.wait(sessionTimeoutMillis / 3);
      }
    }
  }

  await membership.join();
  const stopBeating = startBeating({
    ...options,
    logger,
    heartbeat: () => membership.heartbeat(),
    onLost() {
      lost = true;
      signal.set();
    },
  });
  const arrivals = createArrivals(storage, options.topics);
  const stopWatching = watcher.onChange(() => {
    signal.set();
    for (const partition of arrivals()) pumps.get(partitionName(partition))?.wake();
  });
  const running = run();

  return {
    commit: (partition, offset) => membership.commit(partition, offset),
    pause: (partition) => pumps.get(partitionName(partition))?.pause(),
    resume: (partition) => pumps.get(partitionName(partition))?.resume(),
    lag: () =>
      Promise.resolve(
        [...pumps.keys()].map(parsePartitionName).map((partition) => {
          const head = storage.read(() => headOf(storage, topicOf(partition.topic).id, partition.partition));
          const from = Math.max(membership.committed(partition) ?? head.low, head.low);
          return { ...partition, messages: head.next - from };
        }),
      ),
    generation: () => generation,
    async close() {
      if (closing) return running;
      closing = true;
      signal.set();
      await running;
      await stopReading([...pumps.keys()]);
      stopBeating();
      stopWatching();
      await membership.leave();
    },
  };
}

/** The partitions that a member reads. */
interface Readings {
  /** By `partitionName`. */
  readonly pumps: ReadonlyMap<string, Pump>;
  topicOf(name: string): TopicRecord;
  startReading(partition: TopicPartition, committed: number | undefined): void;
  /** Ends the current batches, then gives the partitions to `onRevoked`. */
  stopReading(names: readonly string[]): Promise<void>;
}

function createReadings({ storage, handler, topics, logger }: MemberOptions): Readings {
  const pumps = new Map<string, Pump>();

  function topicOf(name: string): TopicRecord {
    const topic = topics.find((candidate) => candidate.name === name);
    if (topic === undefined) throw new Error(`The group was assigned ${name}, which it does not read.`);
    return topic;
  }

  function startReading({ topic, partition }: TopicPartition, committed: number | undefined): void {
    const record = topicOf(topic);
    const low = storage.read(() => headOf(storage, record.id, partition).low);
    const pump = startPump({
      offset: committed ?? low,
      read(offset) {
        const page = readPage(storage, record, partition, offset);
        if (page.jump !== undefined) handler.onJump?.(page.jump);
        return page;
      },
      hand: (messages: readonly ReceivedMessage[]) => handler.onMessages(messages),
      logger: logger.child({ topic, partition }),
    });
    pumps.set(partitionName({ topic, partition }), pump);
  }

  async function stopReading(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await Promise.all(names.map((name) => pumps.get(name)?.stop() ?? Promise.resolve()));
    try {
      await handler.onRevoked?.(names.map(parsePartitionName));
    } catch (error) {
      logger.error({ err: error, partitions: names }, "Partitions were not drained before they were released.");
    }
    for (const name of names) pumps.delete(name);
  }

  return { pumps, topicOf, startReading, stopReading };
}

/** Sends heartbeats. All members of a machine send them at the same time, so that each process needs only one transaction. */
function startBeating(
  of: Pick<MemberOptions, "sessionTimeoutMillis" | "clock" | "logger"> & {
    /** Returns false if the membership is lost. */
    readonly heartbeat: () => Promise<boolean>;
    readonly onLost: () => void;
  },
): () => void {
  const { sessionTimeoutMillis, clock, logger, heartbeat, onLost } = of;
  const interval = sessionTimeoutMillis / 3;
  let isBeating = false;
  let timer: NodeJS.Timeout;

  async function beat(): Promise<void> {
    if (isBeating) return;
    isBeating = true;
    try {
      if (!(await heartbeat())) onLost();
    } catch (error) {
      logger.warn({ err: error }, "A heartbeat could not be written.");
    } finally {
      isBeating = false;
    }
  }

  function wait(): void {
    timer = setTimeout(
      () => {
        wait();
        void beat();
      },
      interval - (clock.monotonicMillis() % interval),
    );
  }

  wait();
  return () => clearTimeout(timer);
}
