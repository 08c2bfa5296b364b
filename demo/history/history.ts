import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { ProjectionOptions } from "../../collectors/kubernetes/watcher/projector-state.ts";
import { INVENTORY_TOPIC, SAMPLES_TOPIC, SERVING_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { BusError, type Bus, type OutgoingMessage } from "../../runtime/bus/bus.ts";
import { pause } from "../../runtime/clock.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { pastFacts, pastNodes } from "./facts.ts";
import type { PastMessage } from "./messages.ts";
import { chunksOf, gridTimes, missingPast, mostRowsOf } from "./plan.ts";
import type { Range } from "./ranges.ts";
import { createRecordKeeper, readRecord, type RecordKeeper } from "./record.ts";
import { createPastScrapes, type PastScrapes } from "./scrapes.ts";
import { createPastServing } from "./serving.ts";

/** The limit of GPUs of a fleet with history. A week of a larger fleet would take too long. */
const MOST_GPUS_WITH_HISTORY = 2000;

/** The number of messages in one send. */
const BATCH_MESSAGES = 128;
/** The time for which the sender blocks the process before the exporters get their turn. */
const SLICE_MILLIS = 8;
const HEARTBEAT_MILLIS = 10_000;
const ROWS_PER_SECOND = 60_000;
const RETRY_MILLIS = 5_000;
/** The time from the start until the older past is sent. In it, the recent past is charged on two cores, and its advice is computed. */
const OLDER_AFTER_MILLIS = 60_000;

/** The sending of a fleet's past. */
export interface History {
  /** Returns the sent rows of GPUs and the maximum of rows to send. A GPU that was away has none. */
  progress(): { readonly sent: number; readonly total: number };
  /** Resolves when everything has been sent, sending was given up, or `stop` was called. */
  readonly done: Promise<void>;
  /** Ends after the current batch. The sent part is remembered. */
  stop(): Promise<void>;
}

/**
 * Sends the missing parts of the last `historyMillis` before now over the bus, like a collector: first the facts of machines that left and of ended pods, then the
 * scrapes, hour by hour: of engines, and of GPU exporters. An older past follows in the same way. The record in `path`
 * contains what was sent and until when the fleet runs live, so that a later start sends only the gap.
 */
export async function startHistory(options: {
  readonly fleet: Fleet;
  readonly historyMillis: number;
  /** The time since which an older past is sent with one scrape an hour. By default, there is none. */
  readonly sinceMillis?: number;
  readonly bus: Bus;
  readonly path: string;
  /** The options with which the fleet's watcher reads pods. */
  readonly projection: ProjectionOptions;
  readonly now: () => number;
  /** The rate. By default, processor and store keep up with it on two cores, so that live scrapes do not wait. */
  readonly rowsPerSecond?: number;
  readonly logger: Logger;
}): Promise<History> {
  const { fleet, historyMillis, bus, path, projection, now, logger, rowsPerSecond = ROWS_PER_SECOND } = options;
  if (fleet.gpus > MOST_GPUS_WITH_HISTORY || historyMillis === 0) {
    logger.info({ gpus: fleet.gpus, most: MOST_GPUS_WITH_HISTORY }, "the demo fleet starts without a history");
    return { progress: () => ({ sent: 0, total: 0 }), done: Promise.resolve(), stop: () => Promise.resolve() };
  }
  const startMillis = now();
  const { seed, gpus, cluster } = fleet;
  const keeper = createRecordKeeper(path, await readRecord(path, { seed, gpus, cluster }));
  const { sinceMillis = startMillis - historyMillis } = options;
  const past = { fromMillis: sinceMillis, recentMillis: historyMillis, nowMillis: startMillis };
  const missing = missingPast(fleet, past, [...keeper.record.sent, ...keeper.record.live]);
  const rowsPerPass = fleet.nodes.reduce((sum, node) => sum + mostRowsOf(node), 0);
  const passes = missing.reduce((sum, { range, intervalMillis }) => sum + gridTimes(range, intervalMillis).length, 0);
  const state = { sent: 0, total: passes * rowsPerPass };
  const stopping = new AbortController();
  const { signal } = stopping;
  const work = { rowsPerSecond, bus, state, signal, logger };

  const stopHeartbeat = startHeartbeat(keeper, startMillis, now, logger);
  const done = (async () => {
    for (const each of missing) {
      const { range, intervalMillis } = each;
      const isOlder = range[1] <= startMillis - historyMillis;
      if (isOlder && missing[0] !== each) await pause(startMillis + OLDER_AFTER_MILLIS - now(), signal);
      // Facts and engines come before the scrapes of GPUs: an hour whose pods or tokens come later is metered again.
      if (!(await sendFacts({ fleet, stretch: range, projection, bus, signal, logger }))) return;
      const scrapes = createPastScrapes(intervalMillis);
      const serving = createPastServing(fleet, intervalMillis);
      for (const chunk of chunksOf(each)) {
        if (signal.aborted) return;
        if (!(await sendAll(SERVING_TOPIC, serving.messagesIn(chunk), work))) return;
        if (!(await sendAll(SAMPLES_TOPIC, scrapesIn(fleet, gridTimes(chunk, intervalMillis), scrapes), work))) return;
        await keeper.update((record) => ({ ...record, sent: [...record.sent, chunk] }));
      }
    }
    if (missing.length > 0) logger.info({ rows: state.total }, "the demo fleet's history is sent");
  })().catch((error: unknown) => logger.error({ err: error }, "the demo fleet's history remains incomplete"));

  return {
    progress: () => ({ sent: state.sent, total: state.total }),
    done,
    async stop() {
      stopping.abort();
      await done;
      await stopHeartbeat();
    },
  };
}

/** Records repeatedly until when the fleet has been live. Returns a function that ends it. */
function startHeartbeat(
  keeper: RecordKeeper,
  startMillis: number,
  now: () => number,
  logger: Logger,
): () => Promise<void> {
  const before = keeper.record.live;
  const beat = (): Promise<void> =>
    keeper
      .update((record) => ({ ...record, live: [...before, [startMillis, now()]] }))
      .catch((error: unknown) =>
        logger.warn({ err: error }, "the progress of the demo fleet's history cannot be recorded"),
      );
  const timer = setInterval(() => void beat(), HEARTBEAT_MILLIS);
  return () => {
    clearInterval(timer);
    return beat();
  };
}

/** Sends the facts of a stretch. Returns `false` if it was stopped before the end. */
async function sendFacts(work: {
  readonly fleet: Fleet;
  readonly stretch: Range;
  readonly projection: ProjectionOptions;
  readonly bus: Bus;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}): Promise<boolean> {
  const { fleet, stretch, projection, bus, signal, logger } = work;
  const nodes = await pastNodes(fleet, stretch, projection);
  if (!(await send(bus, INVENTORY_TOPIC, nodes, signal, logger))) return false;
  let batch: OutgoingMessage[] = [];
  for await (const facts of pastFacts(fleet, stretch, projection)) {
    batch.push(...facts);
    if (batch.length < BATCH_MESSAGES) continue;
    if (!(await send(bus, WORKLOADS_TOPIC, batch, signal, logger))) return false;
    batch = [];
  }
  return await send(bus, WORKLOADS_TOPIC, batch, signal, logger);
}

/** Yields the scrapes of the exporters at these times, node by node so that pages are read by template. */
function* scrapesIn({ nodes }: Fleet, times: readonly number[], past: PastScrapes): Iterable<PastMessage> {
  for (const node of nodes) {
    const rows = mostRowsOf(node);
    for (const time of times) yield { message: past.messageAt(node, time), rows };
  }
}

/** Sends the messages to a topic. Returns `false` if it was stopped before the end. */
async function sendAll(
  topic: string,
  messages: Iterable<PastMessage>,
  work: {
    readonly rowsPerSecond: number;
    readonly bus: Bus;
    readonly state: { sent: number };
    readonly signal: AbortSignal;
    readonly logger: Logger;
  },
): Promise<boolean> {
  const { rowsPerSecond, bus, state, signal, logger } = work;
  let batch: OutgoingMessage[] = [];
  let rows = 0;
  // At most one batch is sent while the next one is made.
  let sending: Promise<boolean> = Promise.resolve(true);
  const flush = async (): Promise<boolean> => {
    const isSent = await sending;
    const [messages, count] = [batch, rows];
    batch = [];
    rows = 0;
    sending = send(bus, topic, messages, signal, logger).then(async (done) => {
      if (done) state.sent += count;
      await pause((count * 1000) / rowsPerSecond, signal);
      return done;
    });
    // A failure is handled at the next flush.
    sending.catch(() => {});
    return isSent;
  };
  let sliceStart = performance.now();
  for (const each of messages) {
    if (performance.now() - sliceStart > SLICE_MILLIS) {
      await nextTurn();
      if (signal.aborted) break;
      sliceStart = performance.now();
    }
    batch.push(each.message);
    rows += each.rows;
    if (batch.length >= BATCH_MESSAGES && !(await flush())) return false;
  }
  const isSent = await flush();
  return (await sending) && isSent && !signal.aborted;
}

/** Sends messages, with retries while they can help. Returns `false` if it was stopped before it succeeded. */
async function send(
  bus: Bus,
  topic: string,
  messages: readonly OutgoingMessage[],
  signal: AbortSignal,
  logger: Logger,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      if (messages.length > 0) await bus.send(topic, messages);
      return true;
    } catch (error) {
      if (!(error instanceof BusError) || !error.retriable) throw error;
      logger.warn({ err: error }, "a part of the demo fleet's history could not be sent; it is tried again");
      await pause(RETRY_MILLIS, signal);
    }
  }
  return false;
}
