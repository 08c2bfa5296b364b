import type { Logger } from "pino";
import type { LoopClock } from "../../exporters/loop.ts";
import type { SampleSink } from "../../exporters/collector.ts";
import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import type { PageLimits } from "../../exporters/page/kind.ts";
import { clearBatch, createBatch } from "./batch.ts";
import type { SampleDrop } from "./model.ts";
import { createFamilies } from "./families.ts";
import { createKnownSeriesTable } from "./known-series.ts";
import { createMomentHold } from "./moment-hold.ts";
import { createMomentSender, type MomentOutcome } from "./moment-sender.ts";
import type { PushedTarget } from "./model.ts";
import { createPushedTargets, saveTargets, type SenderLabels } from "./pushed-targets.ts";
import { RefusedWrite } from "./refused-write.ts";
import { createRoles } from "./roles.ts";
import { createStateSaver, readState } from "./saved-state.ts";
import { uncompressBlock } from "./snappy-block.ts";
import { createTargetMessages } from "./target-messages.ts";
import { openWriteAheadLog, type LoggedWrite, type WriteVersion } from "./write-ahead-log.ts";
import { createWriteV1, type LabelLimits } from "./write-v1.ts";
import { createWriteV2 } from "./write-v2.ts";

/** The limits of what senders may use. */
export interface ReceiverLimits extends LabelLimits {
  readonly uncompressedBytes: number;
  readonly series: number;
  readonly memoryBytes: number;
  /** The most bytes of the write-ahead log. */
  readonly diskBytes: number;
  readonly page: Partial<PageLimits>;
}

/** The events of a receiver, for its metrics and its log. */
export interface ReceiverEvents {
  onSamples(kept: number, dropped: Readonly<Partial<Record<SampleDrop, number>>>): void;
  onMoment(outcome: MomentOutcome, target: PushedTarget, messages: number): void;
  onElected(): void;
  onSinkError(target: PushedTarget, error: unknown): void;
}

/** The current use of a receiver. */
export interface ReceiverUse {
  readonly series: number;
  readonly targets: number;
  readonly momentsHeld: number;
  readonly memoryBytes: number;
  readonly logBytes: number;
}

/** The number of samples of a request that were used, or left out because nobody needs them. */
export interface Written {
  readonly samples: number;
}

/** Receives the bodies of remote write, and sends moments to the sink. */
export interface Receiver {
  /** Resolves when the samples are durable. Throws or rejects with a {@link RefusedWrite} if they are refused. */
  receive(body: Buffer, version: WriteVersion): Promise<Written>;
  readonly targets: ReadonlyMap<string, PushedTarget>;
  readonly families: ReadonlyMap<string, FamilyMeta>;
  readonly use: ReceiverUse;
  /** Rejects if the requests of an earlier process cannot be read. Requests are refused until it resolves. */
  readonly replayed: Promise<void>;
  /** Sends what is complete now. The receiver calls it every 250 ms. */
  tick(): Promise<void>;
  /** Resolves when all that is complete was sent and the state is on disk. What is not complete stays in the log. */
  stop(): Promise<void>;
}

/** The options of a receiver. */
export interface ReceiverOptions {
  readonly folder: string;
  readonly cluster: string;
  readonly collector: string;
  readonly intervalMillis: number;
  readonly labels: SenderLabels;
  readonly limits: ReceiverLimits;
  readonly sink: SampleSink;
  readonly events: ReceiverEvents;
  readonly clock: Pick<LoopClock, "nowMillis" | "monotonicMillis">;
  readonly logger: Logger;
  /** How long the first moments of targets without a known node wait for `kube_pod_info`. Default 60 s. */
  readonly learnMillis?: number;
}

const TICK_MILLIS = 250;
const SAVE_MILLIS = 10_000;
const FORGET_MILLIS = 600_000;
const SERIES_MILLIS = 1_800_000;
const TARGET_MILLIS = 86_400_000;
const LEARN_MILLIS = 60_000;
/** How far the clock of a sender may be ahead. */
const AHEAD_MILLIS = 300_000;
/** The part of the memory that series may take. The rest is for moments, so that full tables do not stop the senders. */
const SERIES_PART_OF_MEMORY = 0.75;

/** Opens the write-ahead log and starts to send what it has. */
export function startReceiver(options: ReceiverOptions): Receiver {
  const { folder, limits, events, clock, logger, learnMillis = LEARN_MILLIS } = options;
  const log = openWriteAheadLog(folder, limits.diskBytes, logger);
  const saved = readState(folder, (error) =>
    logger.warn({ err: error }, "the state of remote write cannot be read; targets are learned anew"),
  );
  const startedMillis = clock.monotonicMillis();
  const state = createStateSaver(folder);
  const families = createFamilies(saved.families, state.change);
  const hold = createMomentHold();
  const table1 = createKnownSeriesTable();
  const table2 = createKnownSeriesTable();
  const roles = createRoles();
  const memoryBytes = (): number => hold.bytes + table1.bytes + table2.bytes;
  const targets = createPushedTargets({
    cluster: options.cluster,
    intervalMillis: options.intervalMillis,
    labels: options.labels,
    mostTargets: limits.series,
    saved,
    hold,
    onElected: () => {
      state.change();
      events.onElected();
    },
    hasRoom: () =>
      table1.size + table2.size < limits.series &&
      table1.bytes + table2.bytes < limits.memoryBytes * SERIES_PART_OF_MEMORY,
  });
  const deps = { roles, place: targets.place, limits, aheadMillis: AHEAD_MILLIS };
  const decoders = { 1: createWriteV1({ ...deps, table: table1 }), 2: createWriteV2({ ...deps, table: table2 }) };
  const sender = createMomentSender({
    hold,
    messages: createTargetMessages({
      collector: options.collector,
      families,
      limits: limits.page,
    }),
    sink: options.sink,
    monotonicMillis: clock.monotonicMillis,
    isLearning: ({ pods }) => !saved.isSaved && !pods.isKnown && clock.monotonicMillis() - startedMillis < learnMillis,
    onMoment(outcome, target, messages) {
      state.change();
      events.onMoment(outcome, target, messages);
    },
    onError: events.onSinkError,
  });
  const batch = createBatch();
  let isReplaying = true;
  let isStopping = false;
  let savedAtMillis = startedMillis;
  let forgottenAtMillis = startedMillis;
  let ticking: Promise<void> | undefined;

  /** Decodes a request into the batch. Nothing is changed if its body is damaged, except for the known series. */
  function decode({ body, version, arrivedMillis }: LoggedWrite): void {
    const content = uncompressBlock(body, limits.uncompressedBytes);
    clearBatch(batch);
    try {
      decoders[version](content, batch, arrivedMillis);
    } catch (cause) {
      if (cause instanceof RefusedWrite) throw cause;
      throw new RefusedWrite(400, "the body cannot be decoded", { cause });
    }
  }

  /** Takes the samples of the batch. Throws 503 if the moments do not fit into memory. */
  function apply(arrivedMillis: number, segment: number): void {
    const nowMillis = clock.monotonicMillis() - Math.max(0, clock.nowMillis() - arrivedMillis);
    const arrival = { nowMillis, segment };
    const { size, places, values, dropped } = batch;
    for (const [name, meta] of batch.families) families.add(name, meta);
    for (let index = 0; index < size;) {
      const { role, target, pod } = places[index]!;
      if (role === "pod") {
        target.seenMillis = nowMillis;
        if (pod !== undefined) pod.pods[Number.isNaN(values[index]!) ? "remove" : "set"](pod);
        index += 1;
        continue;
      }
      index = target.take(batch, index, arrival);
      if (hold.bytes <= 2 * limits.memoryBytes) continue;
      forget();
      if (hold.bytes > 2 * limits.memoryBytes) throw new RefusedWrite(503, "the moments do not fit into memory");
    }
    const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0);
    if (!isReplaying) events.onSamples(batch.samples - lost, dropped);
  }

  async function replay(): Promise<void> {
    let count = 0;
    for await (const write of log.replay()) {
      count += 1;
      try {
        await makeRoom();
        decode(write);
        apply(write.arrivedMillis, write.segment);
      } catch (error) {
        if (!(error instanceof RefusedWrite)) throw error;
        logger.error({ err: error, segment: write.segment }, "a request of the write-ahead log cannot be used");
      }
      if (isStopping) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const nowMillis = clock.monotonicMillis();
    // The sender repeats requests that had no answer. Moments wait for them as if their last sample had just arrived.
    for (const moment of hold.unsent) moment.arrivedMillis = nowMillis;
    isReplaying = false;
    if (count > 0) logger.info({ requests: count }, "requests of remote write were read from the write-ahead log");
  }

  /** Forgets old moments, and the oldest sent ones if there is not enough memory. */
  function forget(): void {
    const before = hold.size;
    hold.forget(clock.monotonicMillis(), Math.max(0, limits.memoryBytes - table1.bytes - table2.bytes));
    if (hold.size < before) state.change();
  }

  /** Waits until there is memory for the next request of the log. */
  async function makeRoom(): Promise<void> {
    while (memoryBytes() > limits.memoryBytes && hold.unsent.size > 0 && !isStopping) {
      forget();
      await sender.tick();
      await new Promise((resolve) => setTimeout(resolve, TICK_MILLIS));
    }
  }

  async function work(): Promise<void> {
    if (isReplaying) return;
    await sender.tick();
    const nowMillis = clock.monotonicMillis();
    forget();
    if (nowMillis - savedAtMillis >= SAVE_MILLIS) {
      savedAtMillis = nowMillis;
      await save();
    }
    if (nowMillis - forgottenAtMillis >= FORGET_MILLIS) {
      forgottenAtMillis = nowMillis;
      for (const table of [table1, table2]) table.forget(clock.nowMillis() - SERIES_MILLIS);
      targets.forget(nowMillis - TARGET_MILLIS);
    }
  }

  /** Writes the state, and removes the segments that are not needed any longer. The state has what the segments would have taught. */
  async function save(): Promise<void> {
    log.rotate(clock.nowMillis());
    const first = hold.firstSegment ?? log.segment;
    await state.save(() => ({
      ...saveTargets(targets.all, saved, clock.nowMillis() - TARGET_MILLIS),
      families: [...families.map],
    }));
    await log.removeBefore(first);
  }

  const tick = (): Promise<void> =>
    (ticking ??= work()
      .catch((error: unknown) => logger.error({ err: error }, "remote write cannot go on; it is tried again"))
      .finally(() => (ticking = undefined)));
  const timer = setInterval(() => void tick(), TICK_MILLIS);
  const replayed = replay();

  return {
    async receive(body, version) {
      if (isReplaying || isStopping)
        throw new RefusedWrite(503, "the collector is starting or stopping", { retrySeconds: 1 });
      if (memoryBytes() > limits.memoryBytes) {
        forget();
        if (memoryBytes() > limits.memoryBytes && hold.unsent.size > 0)
          throw new RefusedWrite(503, "the collector has too many moments that wait for the bus");
      }
      const write = { body, version, arrivedMillis: clock.nowMillis() };
      decode(write);
      const { samples, dropped } = batch;
      apply(write.arrivedMillis, log.segment);
      const lost = (["series-limit", "labels", "time", "too-late", "too-often"] as const).reduce(
        (sum, reason) => sum + (dropped[reason] ?? 0),
        0,
      );
      await log.append(write);
      return { samples: samples - lost };
    },
    targets: targets.all,
    families: families.map,
    get use() {
      return {
        series: table1.size + table2.size,
        targets: targets.all.size,
        momentsHeld: hold.size,
        memoryBytes: memoryBytes(),
        logBytes: log.bytes,
      };
    },
    replayed,
    tick,
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await replayed.catch(() => undefined);
      await ticking;
      await sender.settled();
      if (!isReplaying)
        await save().catch((error: unknown) => logger.error({ err: error }, "the state cannot be saved"));
      await log.close();
    },
  };
}
