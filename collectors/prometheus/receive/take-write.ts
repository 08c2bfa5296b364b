import { setTimeout as pause } from "node:timers/promises";
import { clearBatch } from "./batch.ts";
import { forgetMoments, memoryOf, type ReceiverState } from "./receiver-state.ts";
import { RefusedWrite } from "./refused-write.ts";
import { uncompressBlock } from "./snappy-block.ts";
import type { LoggedWrite } from "./write-ahead-log.ts";

const ROOM_MILLIS = 250;

/**
 * Decodes a request into the batch and takes its samples, which are in a segment of the log. Throws a {@link RefusedWrite}: 400 if the body is
 * damaged, where nothing is changed but the known series, and 503 if the moments do not fit into memory.
 */
export function takeWrite(state: ReceiverState, write: LoggedWrite, segment: number): void {
  decode(state, write);
  apply(state, write.arrivedMillis, segment);
}

function decode({ batch, decoders, options }: ReceiverState, { body, version, arrivedMillis }: LoggedWrite): void {
  const content = uncompressBlock(body, options.limits.uncompressedBytes);
  clearBatch(batch);
  try {
    decoders[version](content, batch, arrivedMillis);
  } catch (cause) {
    if (cause instanceof RefusedWrite) throw cause;
    throw new RefusedWrite(400, "the body cannot be decoded", { cause });
  }
}

function apply(state: ReceiverState, arrivedMillis: number, segment: number): void {
  const { options, hold, families, batch, isReplaying } = state;
  const { limits, clock, events } = options;
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
    forgetMoments(state);
    if (hold.bytes > 2 * limits.memoryBytes) throw new RefusedWrite(503, "the moments do not fit into memory");
  }
  const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0);
  if (!isReplaying) events.onSamples(batch.samples - lost, dropped);
}

/** Takes the requests that earlier processes have logged. Fails if the log cannot be read. */
export async function replayLog(state: ReceiverState): Promise<void> {
  const { log, hold, options } = state;
  const { clock, logger } = options;
  let count = 0;
  for await (const write of log.replay()) {
    count += 1;
    try {
      await makeRoom(state);
      takeWrite(state, write, write.segment);
    } catch (error) {
      if (!(error instanceof RefusedWrite)) throw error;
      logger.error({ err: error, segment: write.segment }, "a request of the write-ahead log cannot be used");
    }
    if (state.isStopping) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const nowMillis = clock.monotonicMillis();
  // The sender repeats requests that had no answer. Moments wait for them as if their last sample had just arrived.
  for (const moment of hold.unsent) moment.arrivedMillis = nowMillis;
  state.isReplaying = false;
  if (count > 0) logger.info({ requests: count }, "requests of remote write were read from the write-ahead log");
}

/** Waits until there is memory for the next request of the log. */
async function makeRoom(state: ReceiverState): Promise<void> {
  while (memoryOf(state) > state.options.limits.memoryBytes && state.hold.unsent.size > 0 && !state.isStopping) {
    forgetMoments(state);
    await state.sender.tick();
    await pause(ROOM_MILLIS);
  }
}
