import type { Logger } from "pino";
import { BusError } from "./bus.ts";
import type { Bus, OutgoingMessage } from "./bus.ts";
import { createSignal, type Signal } from "./signal.ts";
import { openSpoolStore, type SpoolStore } from "./spool-store.ts";

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
  const state = createState(options);
  const { store, signal, counts } = state;
  const running = run(state).catch((error: unknown) => state.logger.fatal({ err: error }, "The spool's loop ended."));
  // The store counts a message as gone before its removal is synced and its drop is counted.
  const isEmpty = (): boolean => state.memoryMessages === 0 && store.count() === 0 && state.sentThrough === 0;

  return {
    send: (messages) => enqueue(state, messages),
    stats: () => ({
      queuedMessages: state.memoryMessages + store.count(),
      queuedBytes: state.memoryBytes + store.bytes(),
      ...counts,
    }),
    async drain(timeoutMillis) {
      const until = performance.now() + timeoutMillis;
      while (!isEmpty() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
      return isEmpty();
    },
    async close() {
      state.closed = true;
      signal.set();
      await running;
      if (state.waiting.length > 0) await spool(state, takeWaiting(state, Infinity));
      await store.close();
    },
  };
}

/** A sender's dependencies, its queue in memory, and how far it is. */
interface SenderState {
  readonly bus: Pick<Bus, "send">;
  readonly topic: string;
  readonly logger: Logger;
  readonly maxMemoryBytes: number;
  readonly lingerMillis: number;
  readonly onDropped: SpoolOptions["onDropped"];
  readonly store: SpoolStore;
  readonly signal: Signal;
  readonly counts: { sent: number; dropped: number; errors: number };
  waiting: Parcel[];
  memoryBytes: number;
  memoryMessages: number;
  nextSequence: number;
  /** While this is set, every new message goes to the spool, after its existing messages. */
  spooling: boolean;
  appending: number;
  sentThrough: number;
  closed: boolean;
  retryMillis: number;
}

function createState(options: SpoolOptions): SenderState {
  const { bus, topic, folder, maxBytes, maxMemoryBytes = 16 * 1024 * 1024, lingerMillis = 0, onDropped } = options;
  const store = openSpoolStore(folder, maxBytes);
  return {
    bus,
    topic,
    logger: options.logger.child({ topic }),
    maxMemoryBytes,
    lingerMillis,
    onDropped,
    store,
    signal: createSignal(),
    counts: { sent: 0, dropped: 0, errors: 0 },
    waiting: [],
    memoryBytes: 0,
    memoryMessages: 0,
    nextSequence: store.nextSequence,
    spooling: store.count() > 0,
    appending: 0,
    sentThrough: 0,
    closed: false,
    retryMillis: FIRST_RETRY_MILLIS,
  };
}

function enqueue(state: SenderState, messages: readonly OutgoingMessage[]): Promise<void> {
  const { maxMemoryBytes, signal } = state;
  if (state.closed) return Promise.reject(new BusError("closed", "The sender is closed.", { retriable: false }));
  if (messages.length === 0) return Promise.resolve();
  const bytes = messages.reduce((sum, { key, value }) => sum + key.length + (value?.byteLength ?? 0) + 200, 0);
  if (state.spooling && state.memoryBytes + bytes > 2 * maxMemoryBytes) {
    drop(state, messages.length, "memory-full");
    const message = "Neither the bus nor the spool's disk takes messages as fast as they come.";
    return Promise.reject(new BusError("disk-full", message, { retriable: true }));
  }
  return new Promise((resolve, reject) => {
    state.waiting.push({ sequence: state.nextSequence, messages, bytes, resolve: () => resolve(), reject });
    state.nextSequence += messages.length;
    state.memoryBytes += bytes;
    state.memoryMessages += messages.length;
    if (state.spooling || state.memoryBytes > maxMemoryBytes) void spool(state, takeWaiting(state, Infinity));
    else signal.set();
  });
}

async function run(state: SenderState): Promise<void> {
  while (!state.closed) {
    if (state.spooling) await sendSpooled(state);
    else if (state.waiting.length > 0) {
      await linger(state);
      await passThrough(state);
    } else await state.signal.wait();
  }
}

/** Waits for more messages. The wait ends early if the sender is closed or a full batch is waiting. */
async function linger(state: SenderState): Promise<void> {
  const until = performance.now() + state.lingerMillis;
  while (!state.closed && state.memoryBytes < BATCH_BYTES && performance.now() < until)
    await state.signal.wait(until - performance.now());
}

async function passThrough(state: SenderState): Promise<void> {
  const { counts, logger } = state;
  const parcels = takeWaiting(state, BATCH_BYTES);
  const refused = new Map<Parcel, BusError>();
  try {
    await attempt(
      state,
      parcels,
      (parcel) => parcel.messages,
      (parcel, error) => refused.set(parcel, error),
    );
    for (const parcel of parcels) settle(state, parcel, refused.get(parcel));
  } catch (error) {
    counts.errors += 1;
    logger.warn({ err: error }, "The bus did not accept messages.");
    await spool(state, [...parcels.filter((parcel) => !refused.has(parcel)), ...takeWaiting(state, Infinity)]);
    for (const [parcel, refusal] of refused) settle(state, parcel, refusal);
  }
}

async function sendSpooled(state: SenderState): Promise<void> {
  const { store, signal, counts, logger } = state;
  const { messages, damaged } = store.oldest(BATCH_BYTES);
  if (messages.length === 0 && damaged.length === 0) {
    if (state.appending > 0) await signal.wait();
    else {
      state.spooling = false;
      logger.info("The spool is empty; messages go to the bus again.");
    }
    return;
  }
  state.sentThrough = Math.max(messages.at(-1)?.sequence ?? 0, damaged.at(-1) ?? 0);
  const refused: number[] = [];
  let failure: unknown;
  try {
    await store.remove(damaged);
    drop(state, damaged.length, "damaged");
    await attempt(
      state,
      messages,
      ({ message }) => [message],
      ({ sequence }) => refused.push(sequence),
    );
    await store.remove(messages.map(({ sequence }) => sequence));
    drop(state, refused.length, "too-large");
    state.retryMillis = FIRST_RETRY_MILLIS;
  } catch (error) {
    failure = error;
  }
  state.sentThrough = 0;
  if (failure === undefined) return;
  counts.errors += 1;
  logger.debug({ err: failure }, "The bus still does not answer.");
  await pause(state, state.retryMillis);
  state.retryMillis = Math.min(2 * state.retryMillis, LONGEST_RETRY_MILLIS);
}

/** Sends units together, or one by one if one is too large, so that it does not make others fail. */
async function attempt<Unit>(
  state: SenderState,
  units: readonly Unit[],
  messagesOf: (unit: Unit) => readonly OutgoingMessage[],
  refuse: (unit: Unit, error: BusError) => void,
): Promise<void> {
  const { bus, topic, counts } = state;
  try {
    await bus.send(topic, units.flatMap(messagesOf));
    counts.sent += units.reduce((sum, unit) => sum + messagesOf(unit).length, 0);
  } catch (error) {
    if (!(error instanceof BusError) || error.code !== "too-large") throw error;
    const [only] = units;
    if (units.length === 1 && only !== undefined) refuse(only, error);
    else for (const unit of units) await attempt(state, [unit], messagesOf, refuse);
  }
}

async function spool(state: SenderState, parcels: readonly Parcel[]): Promise<void> {
  const { store, signal, logger } = state;
  if (!state.spooling) logger.warn("The bus is too slow or does not answer; messages go to the spool.");
  state.spooling = true;
  state.appending += 1;
  try {
    const messages = parcels.flatMap((parcel) =>
      parcel.messages.map((message, index) => ({ sequence: parcel.sequence + index, message })),
    );
    drop(state, await store.append(messages, state.sentThrough), "spool-full");
    for (const parcel of parcels) settle(state, parcel);
  } catch (error) {
    for (const parcel of parcels) settle(state, parcel, error);
  } finally {
    state.appending -= 1;
    signal.set();
  }
}

function takeWaiting(state: SenderState, maxBytes: number): Parcel[] {
  const { waiting } = state;
  let bytes = 0;
  const end = waiting.findIndex((parcel, index) => (bytes += parcel.bytes) > maxBytes && index > 0);
  state.waiting = end === -1 ? [] : waiting.slice(end);
  return end === -1 ? waiting : waiting.slice(0, end);
}

function settle(state: SenderState, parcel: Parcel, error?: unknown): void {
  state.memoryBytes -= parcel.bytes;
  state.memoryMessages -= parcel.messages.length;
  if (error === undefined) parcel.resolve();
  else parcel.reject(error);
}

function drop({ counts, logger, onDropped }: SenderState, count: number, reason: DropReason): void {
  if (count === 0) return;
  counts.dropped += count;
  logger.warn({ count, reason }, "Messages were dropped before they reached the bus.");
  onDropped?.(count, reason);
}

async function pause(state: SenderState, millis: number): Promise<void> {
  const until = performance.now() + millis;
  while (!state.closed && performance.now() < until) await state.signal.wait(until - performance.now());
}
