import { SCRAPE_SCHEMA_VERSION } from "../domain/messages/scrape-message.ts";
import { BACKFILL_HEADER, DEAD_LETTER_TOPIC, PROCESSOR_GROUP, SAMPLES_TOPIC } from "../domain/messages/topics.ts";
import { BusError, type Bus, type GroupMember, type OffsetJump, type ReceivedMessage } from "../runtime/bus/bus.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { StoreError } from "../runtime/store/store-error.ts";
import { emptyBatch, insertItems, rowsOf, type Batch } from "./batch.ts";
import { toDeadLetter } from "./dead-letter.ts";
import type { DeadLetterReason, DropReason } from "./outcome.ts";
import { createSamplePipeline } from "./pipeline.ts";

/** What happens in a processor, for its metrics and its log. */
export interface ProcessorEvents {
  onStored(stored: { readonly scrapes: number; readonly rows: number; readonly seconds: number }): void;
  /** How old a scrape was when it could be asked for; not told of what was sent afterwards about the past. */
  onFresh(seconds: number): void;
  /** A stored message whose scrape is traced. */
  onTraced(traceparent: string, takenAtMillis: number, storedAtMillis: number): void;
  onDropped(reason: DropReason): void;
  onDeadLetter(reason: DeadLetterReason, message: ReceivedMessage, cause: string): void;
  /** A message of a schema that this release does not know: the partition waits for a newer release. */
  onFutureSchema(message: ReceivedMessage): void;
  onJump(jump: OffsetJump): void;
  onRetry(error: unknown, attempt: number): void;
  /** A failure that no retry helps; nothing further is stored or committed by this processor. */
  onFatal(error: unknown): void;
}

/** A running processor. */
export interface Processor {
  readonly member: GroupMember;
  /** Rows that wait for an insert. */
  readonly waiting: number;
  /** Partitions that wait for a newer release. */
  readonly paused: readonly number[];
  /** Stores and commits what it holds, leaves the group, and resolves. */
  stop(): Promise<void>;
}

const FIRST_RETRY_MILLIS = 200;
const LONGEST_RETRY_MILLIS = 15_000;
/** How long a stop waits for a store that is away; what was not stored is not committed, and comes again. */
const LONGEST_STOP_MILLIS = 5_000;

/** Joins the group of processors and stores what comes, until it is stopped. */
export async function startProcessor(options: {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly flushMillis: number;
  readonly flushRows: number;
  readonly events: ProcessorEvents;
  readonly now: () => number;
}): Promise<Processor> {
  const { bus, store, flushMillis, flushRows, events, now } = options;
  const pipeline = createSamplePipeline();
  const paused = new Set<number>();
  const stopping = new AbortController();
  let batch: Batch = emptyBatch();
  let gaveUp = false;
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;

  function take(message: ReceivedMessage): void {
    const outcome = pipeline(message);
    batch.positions.set(message.partition, message.offset + 1);
    if (outcome.kind === "ok") {
      const item = { message, joined: outcome.value, takenAtMillis: now() };
      batch.items.push(item);
      batch.rows += rowsOf(item);
    } else if (outcome.kind === "drop") {
      events.onDropped(outcome.reason);
    } else {
      bury(message, outcome.reason, outcome.cause, batch);
    }
  }

  function bury(message: ReceivedMessage, reason: DeadLetterReason, cause: string, into: Batch): void {
    into.deadLetters.push(toDeadLetter(message, reason, cause));
    events.onDeadLetter(reason, message, cause);
  }

  /**
   * Stores what has been taken, what is taken until its turn comes included. One flush runs and one waits at most, so
   * that what is held is bounded. A failure that no retry helps is fatal. Nothing of a batch that was given up is
   * committed, and nothing after it either: a later position would stand for it too.
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

  async function storeBatch(full: Batch): Promise<void> {
    if (full.positions.size === 0) return;
    const started = performance.now();
    const rejected = await retried(() => insertItems(store, full.items));
    for (const { item, error } of rejected) bury(item.message, "rejected-by-store", error.message, full);
    if (full.deadLetters.length > 0) await retried(() => bus.send(DEAD_LETTER_TOPIC, full.deadLetters));
    for (const [partition, offset] of full.positions) await commit(partition, offset);
    const seconds = (performance.now() - started) / 1000;
    const refused = new Set(rejected.map(({ item }) => item));
    const stored = full.items.filter((item) => !refused.has(item));
    events.onStored({ scrapes: stored.length, rows: stored.reduce((sum, item) => sum + rowsOf(item), 0), seconds });
    const storedAtMillis = now();
    for (const { joined, message, takenAtMillis } of stored) {
      const isBackfill = message.headers[BACKFILL_HEADER] !== undefined;
      if (!isBackfill) events.onFresh((storedAtMillis - joined.scrape.scrapedAtMillis) / 1000);
      const traceparent = message.headers["traceparent"];
      if (traceparent !== undefined) events.onTraced(traceparent, takenAtMillis, storedAtMillis);
    }
  }

  /** A partition that has moved on meanwhile is done again by whoever owns it now: the same rows. */
  async function commit(partition: number, offset: number): Promise<void> {
    try {
      await retried(() => member.commit({ topic: SAMPLES_TOPIC, partition }, offset));
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== "not-owner") throw error;
    }
  }

  /** Outages are waited out: what is held is bounded, and the bus waits with what comes after. */
  async function retried<Value>(attempt: () => Promise<Value>): Promise<Value> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        const retriable = (error instanceof StoreError || error instanceof BusError) && error.retriable;
        if (!retriable || stopping.signal.aborted) throw error;
        events.onRetry(error, tries);
        await sleep(Math.min(LONGEST_RETRY_MILLIS, FIRST_RETRY_MILLIS * 2 ** (tries - 1)), stopping.signal);
      }
    }
  }

  const member = await bus.consume({
    group: PROCESSOR_GROUP,
    topics: [SAMPLES_TOPIC],
    handler: {
      async onMessages(messages) {
        for (const message of messages) {
          if (paused.has(message.partition)) return;
          if (message.schemaVersion > SCRAPE_SCHEMA_VERSION) {
            paused.add(message.partition);
            member.pause(message);
            events.onFutureSchema(message);
            return;
          }
          take(message);
          while (batch.rows >= flushRows) await flush();
        }
      },
      onAssigned(partitions) {
        for (const { partition } of partitions) paused.delete(partition);
      },
      onRevoked: () => flush(),
      onJump: (jump) => events.onJump(jump),
    },
  });
  const timer = setInterval(() => void flush(), flushMillis);

  return {
    member,
    get waiting() {
      return batch.rows;
    },
    get paused() {
      return [...paused];
    },
    async stop() {
      clearInterval(timer);
      const deadline = setTimeout(() => stopping.abort(), LONGEST_STOP_MILLIS);
      await member.close();
      await flush();
      clearTimeout(deadline);
    },
  };
}

function sleep(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
