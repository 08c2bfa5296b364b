import type { Bus, GroupMember, TopicPartition } from "../../runtime/bus/bus.ts";
import { createFlusher, nameOf, type FlusherOptions } from "./flusher.ts";

/** A running intake. */
export interface Intake {
  readonly member: GroupMember;
  /** The number of rows that wait for an insert. */
  readonly waiting: number;
  /** Partitions that wait for a newer release. */
  readonly paused: readonly number[];
  /** The partitions that this instance owns now. */
  readonly assigned: ReadonlySet<number>;
  /** Stores and commits the current batch, leaves the group, and resolves. */
  stop(): Promise<void>;
}

/** The first flushes come sooner than the later ones, so that users see data soon after the start. */
const FIRST_FLUSH_MILLIS = 1_000;
/** How long a stop waits for an unavailable store. Rows that were not stored are not committed, and their messages are delivered again. */
const LONGEST_STOP_MILLIS = 5_000;

/**
 * Joins a group, runs each message through a pipeline and stores the results in batches, until it is stopped. The offset is committed after
 * the insert, never before. During an outage the intake waits, and the bus delivers no more messages.
 */
export async function startIntake<Value>(
  options: Omit<FlusherOptions<Value>, "commit" | "signal"> & {
    readonly bus: Bus;
    readonly group: string;
    readonly topics: readonly string[];
    /** The newest schema of these topics that this release supports. */
    readonly schemaVersion: number;
    readonly flushMillis: number;
    readonly flushRows: number;
  },
): Promise<Intake> {
  const { bus, schemaVersion, flushMillis, flushRows, events } = options;
  const paused = new Map<string, TopicPartition>();
  const assigned = new Set<number>();
  const stopping = new AbortController();
  const flusher = createFlusher({
    ...options,
    commit: (partition, offset) => member.commit(partition, offset),
    signal: stopping.signal,
  });

  const member = await bus.consume({
    group: options.group,
    topics: options.topics,
    handler: {
      async onMessages(messages) {
        for (const message of messages) {
          if (paused.has(nameOf(message))) return;
          if (message.schemaVersion > schemaVersion) {
            paused.set(nameOf(message), message);
            member.pause(message);
            events.onFutureSchema(message);
            return;
          }
          flusher.take(message);
          while (flusher.rows >= flushRows) await flusher.flush();
        }
      },
      onAssigned(partitions) {
        for (const partition of partitions) {
          paused.delete(nameOf(partition));
          assigned.add(partition.partition);
        }
      },
      onRevoked(partitions) {
        for (const { partition } of partitions) assigned.delete(partition);
        return flusher.flush();
      },
      onJump: (jump) => events.onJump(jump),
    },
  });
  let waits = Math.min(FIRST_FLUSH_MILLIS, flushMillis);
  let timer = setTimeout(flushInTime, waits);
  function flushInTime(): void {
    void flusher.flush();
    waits = Math.min(waits * 2, flushMillis);
    timer = setTimeout(flushInTime, waits);
  }

  return {
    member,
    get waiting() {
      return flusher.rows;
    },
    get paused() {
      return [...paused.values()].map(({ partition }) => partition);
    },
    assigned,
    async stop() {
      clearTimeout(timer);
      const deadline = setTimeout(() => stopping.abort(), LONGEST_STOP_MILLIS);
      await member.close();
      await flusher.flush();
      clearTimeout(deadline);
    },
  };
}
