import { DEAD_LETTER_TOPIC } from "../../domain/messages/topics.ts";
import {
  BusError,
  type Bus,
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

interface Batch<Value> {
  readonly items: Taken<Value>[];
  readonly deadLetters: OutgoingMessage[];
  /** For each partition, the offset before which all messages are in the batch or were handled earlier. */
  readonly positions: Map<string, { readonly partition: TopicPartition; readonly offset: number }>;
  rows: number;
}

const FIRST_RETRY_MILLIS = 200;
const LONGEST_RETRY_MILLIS = 15_000;

/** The dependencies of {@link Flusher}. */
export interface FlusherOptions<Value> {
  readonly bus: Pick<Bus, "send">;
  readonly pipeline: (message: ReceivedMessage) => Outcome<Value>;
  readonly rowsOf: (value: Value) => number;
  /** Inserts the items' rows. Resolves with the items that the store rejects. Fails with a `StoreError`. */
  readonly insert: (items: readonly Taken<Value>[]) => Promise<readonly Rejected<Value>[]>;
  readonly commit: (partition: TopicPartition, offset: number) => Promise<void>;
  readonly events: IntakeEvents<Value>;
  readonly now: () => number;
  /** Ends the retries. */
  readonly signal: AbortSignal;
}

/** Batches of messages that are stored and then committed. */
export interface Flusher {
  /** The rows of the current batch. */
  readonly rows: number;
  /** Runs a message through the pipeline, and adds the result to the current batch. */
  take(message: ReceivedMessage): void;
  /**
   * Stores the current batch, with the messages that arrive until its turn. At most one flush runs and one waits, so memory is bounded. A
   * failure that no retry helps is fatal. Nothing of a failed batch is committed, and nothing after it, because a later offset would commit
   * the failed messages too.
   */
  flush(): Promise<void>;
}

/** Creates a flusher with an empty batch. */
export function createFlusher<Value>(options: FlusherOptions<Value>): Flusher {
  const { bus, pipeline, rowsOf, insert, commit, events, now, signal } = options;
  let batch: Batch<Value> = emptyBatch();
  let gaveUp = false;
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;

  function deadLetter(message: ReceivedMessage, reason: DeadLetterReason, cause: string, into: Batch<Value>): void {
    into.deadLetters.push(toDeadLetter(message, reason, cause));
    events.onDeadLetter(reason, message, cause);
  }

  async function storeBatch(full: Batch<Value>): Promise<void> {
    if (full.positions.size === 0) return;
    const started = performance.now();
    const rejected = await retried(() => insert(full.items));
    for (const { item, error } of rejected) deadLetter(item.message, "rejected-by-store", error.message, full);
    if (full.deadLetters.length > 0) await retried(() => bus.send(DEAD_LETTER_TOPIC, full.deadLetters));
    await Promise.all([...full.positions.values()].map(({ partition, offset }) => commitOffset(partition, offset)));
    const rejectedItems = new Set(rejected.map(({ item }) => item));
    const stored = full.items.filter((item) => !rejectedItems.has(item));
    events.onStored(stored, (performance.now() - started) / 1000);
  }

  /** Commits an offset. If another member owns the partition now, that member processes the messages again, with the same rows. */
  async function commitOffset({ topic, partition }: TopicPartition, offset: number): Promise<void> {
    try {
      await retried(() => commit({ topic, partition }, offset));
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== "not-owner") throw error;
    }
  }

  const retried = <Result>(attempt: () => Promise<Result>): Promise<Result> => retry(attempt, events.onRetry, signal);

  return {
    get rows() {
      return batch.rows;
    },
    take(message) {
      const outcome = outcomeOf(pipeline, message);
      batch.positions.set(nameOf(message), { partition: message, offset: message.offset + 1 });
      if (outcome.kind === "ok") {
        batch.items.push({ message, value: outcome.value, takenAtMillis: now() });
        batch.rows += rowsOf(outcome.value);
      } else if (outcome.kind === "drop") {
        events.onDropped(outcome.reason);
      } else {
        deadLetter(message, outcome.reason, outcome.cause, batch);
      }
    },
    flush() {
      queued ??= running.then(async () => {
        queued = undefined;
        const full = batch;
        batch = emptyBatch();
        if (gaveUp) return;
        try {
          await storeBatch(full);
        } catch (error) {
          gaveUp = true;
          if (!signal.aborted) events.onFatal(error);
        }
      });
      running = queued;
      return queued;
    },
  };
}

/** Runs the pipeline. If it throws, it would throw again, so the message becomes a dead letter and later messages continue. */
function outcomeOf<Value>(pipeline: FlusherOptions<Value>["pipeline"], message: ReceivedMessage): Outcome<Value> {
  try {
    return pipeline(message);
  } catch (error) {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { kind: "dead-letter", reason: "not-processed", cause };
  }
}

/** Retries during outages. Memory is bounded, and the bus delivers no more messages in the meantime. */
async function retry<Result>(
  attempt: () => Promise<Result>,
  onRetry: (error: unknown, attempt: number) => void,
  signal: AbortSignal,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const retriable = (error instanceof StoreError || error instanceof BusError) && error.retriable;
      if (!retriable || signal.aborted) throw error;
      onRetry(error, tries);
      await pause(Math.min(LONGEST_RETRY_MILLIS, FIRST_RETRY_MILLIS * 2 ** (tries - 1)), signal);
    }
  }
}

function emptyBatch<Value>(): Batch<Value> {
  return { items: [], deadLetters: [], positions: new Map(), rows: 0 };
}

/** Returns the map key of a partition. */
export function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}
