import type { Logger } from "pino";
import type { SampleSink } from "../../exporters/collector-model.ts";
import type { LoopClock } from "../../exporters/loop.ts";
import type { PageLimits } from "../../exporters/page/kind.ts";
import { createBatch } from "./batch.ts";
import { createFamilies, type GrowingFamilies } from "./families.ts";
import { createKnownSeriesTable, type KnownSeriesTable } from "./known-series.ts";
import type { Batch, PushedTarget, SampleDrop } from "./model.ts";
import { createMomentHold, type MomentHold } from "./moment-hold.ts";
import { createMomentSender, type MomentOutcome, type MomentSender } from "./moment-sender.ts";
import { createPushedTargets, type PushedTargets, type SenderLabels } from "./pushed-targets.ts";
import { createRoles } from "./roles.ts";
import { createStateSaver, readState, type SavedState, type StateSaver } from "./saved-state.ts";
import { createTargetMessages } from "./target-messages.ts";
import { openWriteAheadLog, type WriteAheadLog, type WriteVersion } from "./write-ahead-log.ts";
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

/** The parts of a receiver, and how far it is. */
export interface ReceiverState {
  readonly options: ReceiverOptions;
  readonly log: WriteAheadLog;
  /** The state of an earlier process. */
  readonly saved: SavedState;
  readonly saver: StateSaver;
  readonly families: GrowingFamilies;
  readonly hold: MomentHold;
  /** The known series of each version of the protocol. */
  readonly tables: Readonly<Record<WriteVersion, KnownSeriesTable>>;
  readonly decoders: Readonly<Record<WriteVersion, ReturnType<typeof createWriteV1>>>;
  readonly targets: PushedTargets;
  readonly sender: MomentSender;
  /** The samples of the request that is being decoded. */
  readonly batch: Batch;
  /** By the monotonic clock, as the next two. */
  readonly startedMillis: number;
  savedAtMillis: number;
  forgottenAtMillis: number;
  isReplaying: boolean;
  isStopping: boolean;
}

const LEARN_MILLIS = 60_000;
/** How far the clock of a sender may be ahead. */
const AHEAD_MILLIS = 300_000;
/** The part of the memory that series may take. The rest is for moments, so that full tables do not stop the senders. */
const SERIES_PART_OF_MEMORY = 0.75;

/** Opens the write-ahead log and creates the parts of a receiver. */
export function createReceiverState(options: ReceiverOptions): ReceiverState {
  const { folder, limits, events, clock, logger, learnMillis = LEARN_MILLIS } = options;
  const log = openWriteAheadLog(folder, limits.diskBytes, logger);
  const saved = readState(folder, (error) =>
    logger.warn({ err: error }, "the state of remote write cannot be read; targets are learned anew"),
  );
  const startedMillis = clock.monotonicMillis();
  const saver = createStateSaver(folder);
  const families = createFamilies(saved.families, saver.change);
  const hold = createMomentHold();
  const tables = { 1: createKnownSeriesTable(), 2: createKnownSeriesTable() };
  const targets = createPushedTargets({
    cluster: options.cluster,
    intervalMillis: options.intervalMillis,
    labels: options.labels,
    mostTargets: limits.series,
    saved,
    hold,
    onElected() {
      saver.change();
      events.onElected();
    },
    hasRoom: () =>
      tables[1].size + tables[2].size < limits.series &&
      tables[1].bytes + tables[2].bytes < limits.memoryBytes * SERIES_PART_OF_MEMORY,
  });
  const deps = { roles: createRoles(), place: targets.place, limits, aheadMillis: AHEAD_MILLIS };
  const sender = createMomentSender({
    hold,
    messages: createTargetMessages({ collector: options.collector, families, limits: limits.page }),
    sink: options.sink,
    monotonicMillis: clock.monotonicMillis,
    isLearning: ({ pods }) => !saved.isSaved && !pods.isKnown && clock.monotonicMillis() - startedMillis < learnMillis,
    onMoment(outcome, target, messages) {
      saver.change();
      events.onMoment(outcome, target, messages);
    },
    onError: events.onSinkError,
  });
  return {
    options,
    log,
    saved,
    saver,
    families,
    hold,
    tables,
    decoders: { 1: createWriteV1({ ...deps, table: tables[1] }), 2: createWriteV2({ ...deps, table: tables[2] }) },
    targets,
    sender,
    batch: createBatch(),
    startedMillis,
    savedAtMillis: startedMillis,
    forgottenAtMillis: startedMillis,
    isReplaying: true,
    isStopping: false,
  };
}

/** Returns the memory of moments and known series. */
export function memoryOf({ hold, tables }: ReceiverState): number {
  return hold.bytes + tables[1].bytes + tables[2].bytes;
}

/** Forgets old moments, and the oldest sent ones if there is not enough memory. */
export function forgetMoments({ hold, tables, saver, options }: ReceiverState): void {
  const before = hold.size;
  const room = options.limits.memoryBytes - tables[1].bytes - tables[2].bytes;
  hold.forget(options.clock.monotonicMillis(), Math.max(0, room));
  if (hold.size < before) saver.change();
}
