import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import type { PushedTarget } from "./model.ts";
import { saveTargets } from "./pushed-targets.ts";
import {
  createReceiverState,
  forgetMoments,
  memoryOf,
  type ReceiverOptions,
  type ReceiverState,
} from "./receiver-state.ts";
import { RefusedWrite } from "./refused-write.ts";
import { replayLog, takeWrite } from "./take-write.ts";
import type { WriteVersion } from "./write-ahead-log.ts";

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

const TICK_MILLIS = 250;
const SAVE_MILLIS = 10_000;
const FORGET_MILLIS = 600_000;
const SERIES_MILLIS = 1_800_000;
const TARGET_MILLIS = 86_400_000;
/** The reasons for which a sample that a sender has sent does not count as written. */
const LOST = ["series-limit", "labels", "time", "too-late", "too-often"] as const;

/** Opens the write-ahead log and starts to send what it has. */
export function startReceiver(options: ReceiverOptions): Receiver {
  const { clock, logger } = options;
  const state = createReceiverState(options);
  const { log, hold, tables, targets, families, batch, sender } = state;
  let ticking: Promise<void> | undefined;
  const tick = (): Promise<void> =>
    (ticking ??= work(state)
      .catch((error: unknown) => logger.error({ err: error }, "remote write cannot go on; it is tried again"))
      .finally(() => (ticking = undefined)));
  const timer = setInterval(() => void tick(), TICK_MILLIS);
  const replayed = replayLog(state);

  return {
    async receive(body, version) {
      refuseIfBusy(state);
      const write = { body, version, arrivedMillis: clock.nowMillis() };
      takeWrite(state, write, log.segment);
      const { samples, dropped } = batch;
      const lost = LOST.reduce((sum, reason) => sum + (dropped[reason] ?? 0), 0);
      await log.append(write);
      return { samples: samples - lost };
    },
    targets: targets.all,
    families: families.map,
    get use() {
      return {
        series: tables[1].size + tables[2].size,
        targets: targets.all.size,
        momentsHeld: hold.size,
        memoryBytes: memoryOf(state),
        logBytes: log.bytes,
      };
    },
    replayed,
    tick,
    async stop() {
      state.isStopping = true;
      clearInterval(timer);
      await replayed.catch(() => undefined);
      await ticking;
      await sender.settled();
      if (!state.isReplaying)
        await save(state).catch((error: unknown) => logger.error({ err: error }, "the state cannot be saved"));
      await log.close();
    },
  };
}

function refuseIfBusy(state: ReceiverState): void {
  const { memoryBytes } = state.options.limits;
  if (state.isReplaying || state.isStopping)
    throw new RefusedWrite(503, "the collector is starting or stopping", { retrySeconds: 1 });
  if (memoryOf(state) <= memoryBytes) return;
  forgetMoments(state);
  if (memoryOf(state) > memoryBytes && state.hold.unsent.size > 0)
    throw new RefusedWrite(503, "the collector has too many moments that wait for the bus");
}

/** Sends what is complete, forgets what is old, and saves the state now and then. */
async function work(state: ReceiverState): Promise<void> {
  const { sender, tables, targets, options } = state;
  const { clock } = options;
  if (state.isReplaying) return;
  await sender.tick();
  const nowMillis = clock.monotonicMillis();
  forgetMoments(state);
  if (nowMillis - state.savedAtMillis >= SAVE_MILLIS) {
    state.savedAtMillis = nowMillis;
    await save(state);
  }
  if (nowMillis - state.forgottenAtMillis < FORGET_MILLIS) return;
  state.forgottenAtMillis = nowMillis;
  for (const table of Object.values(tables)) table.forget(clock.nowMillis() - SERIES_MILLIS);
  targets.forget(nowMillis - TARGET_MILLIS);
}

/** Writes the state, and removes the segments that are not needed any longer. The state has what the segments would have taught. */
async function save({ log, hold, saver, saved, targets, families, options }: ReceiverState): Promise<void> {
  const nowMillis = options.clock.nowMillis();
  log.rotate(nowMillis);
  const first = hold.firstSegment ?? log.segment;
  await saver.save(() => ({
    ...saveTargets(targets.all, saved, nowMillis - TARGET_MILLIS),
    families: [...families.map],
  }));
  await log.removeBefore(first);
}
