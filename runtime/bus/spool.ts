import type { Logger } from "pino";
import { BusError } from "./bus.ts";
import type { Bus, OutgoingMessage } from "./bus.ts";
import { createSignal } from "./signal.ts";
import { openSpoolStore } from "./spool-store.ts";

const BATCH_BYTES = 2 * 1024 * 1024;
const FIRST_RETRY_MILLIS = 250;
const LONGEST_RETRY_MILLIS = 5_000;

/** Why messages were given up. */
export type DropReason = "spool-full" | "memory-full" | "too-large" | "damaged";

/** A snapshot of what went through a sender since it was made; `queued…` is now, in memory and on disk. */
export interface SpoolStats {
  readonly queuedMessages: number;
  readonly queuedBytes: number;
  /** Messages that the bus acknowledged. */
  readonly sent: number;
  readonly dropped: number;
  /** Attempts to send that failed. */
  readonly errors: number;
}

/** Sends to one topic, through outages. */
export interface SpoolingSender {
  /**
   * Resolves when all messages are durable: acknowledged by the bus, or synced to the spool. Rejects where they are
   * neither and won't be: `too-large`, `disk-full` (the spool can't be written), `closed`.
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  stats(): SpoolStats;
  /** Waits until nothing is queued, at most `timeoutMillis`; says whether that was reached. */
  drain(timeoutMillis: number): Promise<boolean>;
  /** Moves what is in memory to the spool and lets go of it; the bus stays open. */
  close(): Promise<void>;
}

/** What a spooling sender needs. */
export interface SpoolOptions {
  readonly bus: Pick<Bus, "send">;
  readonly topic: string;
  /** The spool's folder, for this process alone. */
  readonly folder: string;
  /** Bytes that the spool may take; beyond them the oldest messages go, counted. */
  readonly maxBytes: number;
  /** Bytes that may wait in memory before they go to the spool. Default 16 MiB. */
  readonly maxMemoryBytes?: number;
  /**
   * How long the first message waits for others, so that one sync or request carries many. Default 0. A crash loses
   * what waits, as it loses a scrape under way: keep it well below the scrape interval.
   */
  readonly lingerMillis?: number;
  readonly onDropped?: (count: number, reason: DropReason) => void;
  readonly logger: Logger;
}

/** One call's messages. */
interface Parcel {
  readonly sequence: number;
  readonly messages: readonly OutgoingMessage[];
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Makes a sender that passes messages through while the bus answers, and keeps them on disk while it does not. One loop
 * sends, one request at a time, the spool before anything newer, so that nothing overtakes: the order of the calls is
 * the order on the bus. What was acknowledged is deleted from the spool afterwards; a crash in between sends it again.
 * A bus that is slow fills the memory's share, then the spool, and never more.
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
  // While this is set every new message goes to the spool, behind what is there.
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
    if (!spooling) logger.warn("The bus does not keep up or does not answer; messages go to the spool.");
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

  /** Sends, alone where it must be: a message that is too large must not take others with it. */
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
      logger.warn({ err: error }, "The bus did not take messages.");
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

  /** Lets more messages come; cut short when the sender is closed or what waits is a batch already. */
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
