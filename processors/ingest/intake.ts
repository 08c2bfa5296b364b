import { DEAD_LETTER_TOPIC } from "../../domain/messages/topics.ts";
import {
  BusError,
  type Bus,
  type GroupMember,
  type OffsetJump,
  type OutgoingMessage,
  type ReceivedMessage,
  type TopicPartition,
} from "../../runtime/bus/bus.ts";
import { pause } from "../../runtime/clock.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { toDeadLetter } from "./dead-letter.ts";
import type { DeadLetterReason, DropReason, Outcome } from "./steps/outcome.ts";

/** A message and the value that the pipeline made from it. */
export interface Taken<Value> {
  readonly message: ReceivedMessage;
  readonly value: Value;
  readonly takenAtMillis: number;
}

/** An item that the store rejects. */
export interface Rejected<Value> {
  readonly item: Taken<Value>;
  readonly error: StoreError;
}

/** The events of an intake, for metrics and logs. */
export interface IntakeEvents<Value> {
  /** The items are stored and committed. */
  onStored(items: readonly Taken<Value>[], seconds: number): void;
  onDropped(reason: DropReason): void;
  onDeadLetter(reason: DeadLetterReason, message: ReceivedMessage, cause: string): void;
  /** A message has a schema that this release does not support. The partition waits for a newer release. */
  onFutureSchema(message: ReceivedMessage): void;
  onJump(jump: OffsetJump): void;
  onRetry(error: unknown, attempt: number): void;
  /** A failure that no retry helps. This intake stores and commits nothing more. */
  onFatal(error: unknown): void;
}

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

interface Batch<Value> {
  readonly items: Taken<Value>[];
  readonly deadLetters: OutgoingMessage[];
  /** For each partition, the offset before which all messages are in the batch or were handled earlier. */
  readonly positions: Map<string, { readonly partition: TopicPartition; readonly offset: number }>;
  rows: number;
}

/** The first flushes come sooner than the later ones, so that users see data soon after the start. */
const FIRST_FLUSH_MILLIS = 1_000;
const FIRST_RETRY_MILLIS = 200;
const LONGEST_RETRY_MILLIS = 15_000;
/** How long a stop waits for an unavailable store. Rows that were not stored are not committed, and their messages are delivered again. */
const LONGEST_STOP_MILLIS = 5_000;

/**
 * Joins a group, runs each message through a pipeline and stores the results in batches, until it is stopped. The offset is committed after
 * the insert, never before. During an outage the intake waits, and the bus delivers no more messages.
 */
export async function startIntake<Value>(options: {
  readonly bus: Bus;
  readonly group: string;
  readonly topics: readonly string[];
  /** The newest schema of these topics that this release supports. */
  readonly schemaVersion: number;
  readonly pipeline: (message: ReceivedMessage) => Outcome<Value>;
  readonly rowsOf: (value: Value) => number;
  /** Inserts the items' rows. Resolves with the items that the store rejects. Fails with a `StoreError`. */
  readonly insert: (items: readonly Taken<Value>[]) => Promise<readonly Rejected<Value>[]>;
  readonly flushMillis: number;
  readonly flushRows: number;
  readonly events: IntakeEvents<Value>;
  readonly now: () => number;
}): Promise<Intake> {
  const { bus, schemaVersion, pipeline, rowsOf, insert, flushMillis, flushRows, events, now } = options;
  const paused = new Map<string, TopicPartition>();
  const assigned = new Set<number>();
  const stopping = new AbortController();
  let batch: Batch<Value> = emptyBatch();
  let gaveUp = false;
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;

  function take(message: ReceivedMessage): void {
    const outcome = outcomeOf(message);
    batch.positions.set(nameOf(message), { partition: message, offset: message.offset + 1 });
    if (outcome.kind === "ok") {
      batch.items.push({ message, value: outcome.value, takenAtMillis: now() });
      batch.rows += rowsOf(outcome.value);
    } else if (outcome.kind === "drop") {
      events.onDropped(outcome.reason);
    } else {
      deadLetter(message, outcome.reason, outcome.cause, batch);
    }
  }

  /** Runs the pipeline. If it throws, it would throw again, so the message becomes a dead letter and later messages continue. */
  function outcomeOf(message: ReceivedMessage): Outcome<Value> {
    try {
      return pipeline(message);
    } catch (error) {
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { kind: "dead-letter", reason: "not-processed", cause };
    }
  }

  function deadLetter(message: ReceivedMessage, reason: DeadLetterReason, cause: string, into: Batch<Value>): void {
    into.deadLetters.push(toDeadLetter(message, reason, cause));
    events.onDeadLetter(reason, message, cause);
  }

  /**
   * Stores the current batch, with the messages that arrive until its turn. At most one flush runs and one waits, so memory is bounded. A
   * failure that no retry helps is fatal. Nothing of a failed batch is committed, and nothing after it, because a later offset would commit
   * the failed messages too.
   */
  function flush(): Promise<void> {
    queued ??= running.then(async () => {
      queued = undefined;
      const full = batch;
      batch = emptyBatch();
      if (gaveUp) return;
      try {
        await storeBatch(full);
      } catch (error) {
        gaveUp = true;
        if (!stopping.signal.aborted) events.onFatal(error);
      }
    });
    running = queued;
    return queued;
  }

  async function storeBatch(full: Batch<Value>): Promise<void> {
    if (full.positions.size === 0) return;
    const started = performance.now();
    const rejected = await retried(() => insert(full.items));
    for (const { item, error } of rejected) deadLetter(item.message, "rejected-by-store", error.message, full);
    if (full.deadLetters.length > 0) await retried(() => bus.send(DEAD_LETTER_TOPIC, full.deadLetters));
    await Promise.all([...full.positions.values()].map(({ partition, offset }) => commit(partition, offset)));
    const rejectedItems = new Set(rejected.map(({ item }) => item));
    const stored = full.items.filter((item) => !rejectedItems.has(item));
    events.onStored(stored, (performance.now() - started) / 1000);
  }

  /** Commits an offset. If another member owns the partition now, that member processes the messages again, with the same rows. */
  async function commit({ topic, partition }: TopicPartition, offset: number): Promise<void> {
    try {
      await retried(() => member.commit({ topic, partition }, offset));
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== "not-owner") throw error;
    }
  }

  /** Retries during outages. Memory is bounded, and the bus delivers no more messages in the meantime. */
  async function retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        const retriable = (error instanceof StoreError || error instanceof BusError) && error.retriable;
        if (!retriable || stopping.signal.aborted) throw error;
        events.onRetry(error, tries);
        await pause(Math.min(LONGEST_RETRY_MILLIS, FIRST_RETRY_MILLIS * 2 ** (tries - 1)), stopping.signal);
      }
    }
  }

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
          take(message);
          while (batch.rows >= flushRows) await flush();
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
        return flush();
      },
      onJump: (jump) => events.onJump(jump),
    },
  });
  let waits = Math.min(FIRST_FLUSH_MILLIS, flushMillis);
  let timer = setTimeout(flushInTime, waits);
  function flushInTime(): void {
    void flush();
    waits = Math.min(waits * 2, flushMillis);
    timer = setTimeout(flushInTime, waits);
  }

  return {
    member,
    get waiting() {
      return batch.rows;
    },
    get paused() {
      return [...paused.values()].map(({ partition }) => partition);
    },
    assigned,
    async stop() {
      clearTimeout(timer);
      const deadline = setTimeout(() => stopping.abort(), LONGEST_STOP_MILLIS);
      await member.close();
      await flush();
      clearTimeout(deadline);
    },
  };
}

function emptyBatch<Value>(): Batch<Value> {
  return { items: [], deadLetters: [], positions: new Map(), rows: 0 };
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}
