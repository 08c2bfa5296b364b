import type { Logger } from "pino";
import { BusError } from "./bus.ts";
import type { Bus, OutgoingMessage } from "./bus.ts";
import { createSignal } from "./signal.ts";
import { openSpoolStore } from "./spool-store.ts";

const BATCH_BYTES = 2 * 1024 * 1024;
const FIRST_RETRY_MILLIS = 250;
const LONGEST_RETRY_MILLIS = 5_000;

/** The reason why messages were dropped. */
export type DropReason = "spool-full" | "memory-full" | "too-large" | "damaged";

/** The statistics of a sender since it was created. `queued…` are the current values, in memory and on disk. */
export interface SpoolStats {
  readonly queuedMessages: number;
  readonly queuedBytes: number;
  /** Messages that the bus acknowledged. */
  readonly sent: number;
  readonly dropped: number;
  /** Failed attempts to send. */
  readonly errors: number;
}

/** A sender for one topic that survives outages. */
export interface SpoolingSender {
  /**
   * Resolves when all messages are durable: acknowledged by the bus, or synced to the spool. Rejects if they cannot become durable:
   * `too-large`, `disk-full` (the spool cannot be written), `closed`.
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  stats(): SpoolStats;
  /** Waits until nothing is queued, at most `timeoutMillis`. Returns whether that was reached. */
  drain(timeoutMillis: number): Promise<boolean>;
  /** Moves messages from memory to the spool and closes it. The bus stays open. */
  close(): Promise<void>;
}

/** The options of a spooling sender. */
export interface SpoolOptions {
  readonly bus: Pick<Bus, "send">;
  readonly topic: string;
  /** The spool's folder, for this process alone. */
  readonly folder: string;
  /** The most bytes of the spool. Beyond it, the oldest messages are dropped and counted. */
  readonly maxBytes: number;
  /** The most bytes that wait in memory before they go to the spool. Default 16 MiB. */
  readonly maxMemoryBytes?: number;
  /**
   * How long the first message waits for others, so that one sync or request has many messages. Default 0. A crash loses waiting messages,
   * like a scrape in progress: keep it well below the scrape interval.
   */
  readonly lingerMillis?: number;
  readonly onDropped?: (count: number, reason: DropReason) => void;
  readonly logger: Logger;
}

/** The messages of one call. */
interface Parcel {
  readonly sequence: number;
  readonly messages: readonly OutgoingMessage[];
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Creates a sender that passes messages through while the bus answers, and stores them on disk while it does not. One loop sends, with one
 * request at a time and the spool before newer messages, so nothing overtakes: the order of the calls is the order on the bus. Acknowledged
 * messages are deleted from the spool afterwards; a crash in between sends them again. A slow bus fills the memory limit, then the spool,
 * and never more.
 */
export function createSpoolingSender(options: SpoolOptions): SpoolingSender {
  const { bus, topic } = options;
  const logger = options.logger.child({ topic });
  const maxMemoryBytes = options.maxMemoryBytes ?? 16 * 1024 * 1024;
  const lingerMillis = options.lingerMillis ?? 0;
  const store = openSpoolStore(options.folder, options.maxBytes);
  const signal = createSignal();
  let waiting: Parcel[] = [];
  let memoryBytes = 0;
  let memoryMessages = 0;
  let nextSequence = store.nextSequence;
  // While this is set, every new message goes to the spool, after its existing messages.
  let spooling = store.count() > 0;
  let appending = 0;
  let sentThrough = 0;
  let closed = false;
  let retryMillis = FIRST_RETRY_MILLIS;
  const counts = { sent: 0, dropped: 0, errors: 0 };

  function drop(count: number, reason: DropReason): void {
    if (count === 0) return;
    counts.dropped += count;
    logger.warn({ count, reason }, "Messages were dropped before they reached the bus.");
    options.onDropped?.(count, reason);
  }

  function settle(parcel: Parcel, error?: unknown): void {
    memoryBytes -= parcel.bytes;
    memoryMessages -= parcel.messages.length;
    if (error === undefined) parcel.resolve();
    else parcel.reject(error);
  }

  async function spool(parcels: readonly Parcel[]): Promise<void> {
    if (!spooling) logger.warn("The bus is too slow or does not answer; messages go to the spool.");
    spooling = true;
    appending += 1;
    try {
      const messages = parcels.flatMap((parcel) =>
        parcel.messages.map((message, index) => ({ sequence: parcel.sequence + index, message })),
      );
      drop(await store.append(messages, sentThrough), "spool-full");
      for (const parcel of parcels) settle(parcel);
    } catch (error) {
      for (const parcel of parcels) settle(parcel, error);
    } finally {
      appending -= 1;
      signal.set();
    }
  }

  function takeWaiting(maxBytes: number): Parcel[] {
    let bytes = 0;
    const end = waiting.findIndex((parcel, index) => (bytes += parcel.bytes) > maxBytes && index > 0);
    const taken = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    return taken;
  }

  /** Sends units together, or one by one if one is too large, so that it does not make others fail. */
  async function attempt<Unit>(
    units: readonly Unit[],
    messagesOf: (unit: Unit) => readonly OutgoingMessage[],
    refuse: (unit: Unit, error: BusError) => void,
  ): Promise<void> {
    try {
      await bus.send(topic, units.flatMap(messagesOf));
      counts.sent += units.reduce((sum, unit) => sum + messagesOf(unit).length, 0);
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== "too-large") throw error;
      const [only] = units;
      if (units.length === 1 && only !== undefined) refuse(only, error);
      else for (const unit of units) await attempt([unit], messagesOf, refuse);
    }
  }

  async function passThrough(): Promise<void> {
    const parcels = takeWaiting(BATCH_BYTES);
    const refused = new Map<Parcel, BusError>();
    try {
      await attempt(
        parcels,
        (parcel) => parcel.messages,
        (parcel, error) => refused.set(parcel, error),
      );
      for (const parcel of parcels) settle(parcel, refused.get(parcel));
    } catch (error) {
      counts.errors += 1;
      logger.warn({ err: error }, "The bus did not accept messages.");
      await spool([...parcels.filter((parcel) => !refused.has(parcel)), ...takeWaiting(Infinity)]);
      for (const [parcel, refusal] of refused) settle(parcel, refusal);
    }
  }

  async function sendSpooled(): Promise<void> {
    const { messages, damaged } = store.oldest(BATCH_BYTES);
    if (messages.length === 0 && damaged.length === 0) {
      if (appending > 0) await signal.wait();
      else {
        spooling = false;
        logger.info("The spool is empty; messages go to the bus again.");
      }
      return;
    }
    sentThrough = Math.max(messages.at(-1)?.sequence ?? 0, damaged.at(-1) ?? 0);
    const refused: number[] = [];
    let failure: unknown;
    try {
      await store.remove(damaged);
      drop(damaged.length, "damaged");
      await attempt(
        messages,
        ({ message }) => [message],
        ({ sequence }) => refused.push(sequence),
      );
      await store.remove(messages.map(({ sequence }) => sequence));
      drop(refused.length, "too-large");
      retryMillis = FIRST_RETRY_MILLIS;
    } catch (error) {
      failure = error;
    }
    sentThrough = 0;
    if (failure === undefined) return;
    counts.errors += 1;
    logger.debug({ err: failure }, "The bus still does not answer.");
    await pause(retryMillis);
    retryMillis = Math.min(2 * retryMillis, LONGEST_RETRY_MILLIS);
  }

  async function pause(millis: number): Promise<void> {
    const until = performance.now() + millis;
    while (!closed && performance.now() < until) await signal.wait(until - performance.now());
  }

  /** Waits for more messages. The wait ends early if the sender is closed or a full batch is waiting. */
  async function linger(): Promise<void> {
    const until = performance.now() + lingerMillis;
    while (!closed && memoryBytes < BATCH_BYTES && performance.now() < until) {
      await signal.wait(until - performance.now());
    }
  }

  async function run(): Promise<void> {
    while (!closed) {
      if (spooling) await sendSpooled();
      else if (waiting.length > 0) {
        await linger();
        await passThrough();
      } else await signal.wait();
    }
  }

  const running = run().catch((error: unknown) => logger.fatal({ err: error }, "The spool's loop ended."));
  // The store counts a message as gone before its removal is synced and its drop is counted.
  const isEmpty = () => memoryMessages === 0 && store.count() === 0 && sentThrough === 0;

  return {
    send(messages) {
      if (closed) return Promise.reject(new BusError("closed", "The sender is closed.", { retriable: false }));
      if (messages.length === 0) return Promise.resolve();
      const bytes = messages.reduce((sum, { key, value }) => sum + key.length + (value?.byteLength ?? 0) + 200, 0);
      if (spooling && memoryBytes + bytes > 2 * maxMemoryBytes) {
        drop(messages.length, "memory-full");
        const message = "Neither the bus nor the spool's disk takes messages as fast as they come.";
        return Promise.reject(new BusError("disk-full", message, { retriable: true }));
      }
      return new Promise((resolve, reject) => {
        waiting.push({ sequence: nextSequence, messages, bytes, resolve: () => resolve(), reject });
        nextSequence += messages.length;
        memoryBytes += bytes;
        memoryMessages += messages.length;
        if (spooling || memoryBytes > maxMemoryBytes) void spool(takeWaiting(Infinity));
        else signal.set();
      });
    },
    stats: () => ({
      queuedMessages: memoryMessages + store.count(),
      queuedBytes: memoryBytes + store.bytes(),
      ...counts,
    }),
    async drain(timeoutMillis) {
      const until = performance.now() + timeoutMillis;
      while (!isEmpty() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
      return isEmpty();
    },
    async close() {
      closed = true;
      signal.set();
      await running;
      if (waiting.length > 0) await spool(takeWaiting(Infinity));
      await store.close();
    },
  };
}
