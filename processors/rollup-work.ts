import { SAMPLES_TOPIC } from "../domain/messages/topics.ts";
import type { Bus } from "../runtime/bus/bus.ts";
import { pause } from "../runtime/clock.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { createDirtyWindows, settledUntil, type DirtyWindows } from "./dirty-windows.ts";
import type { Term } from "./leader.ts";
import { createSchedule, type Schedule, type ScheduleTiming, type WindowOfCluster } from "./rollup/schedule.ts";
import { computeWindow } from "./rollups.ts";
import { highestGeneration, newRunId } from "./runs.ts";
import { dropSuperseded } from "./superseded.ts";

/** What happens while rollups are made, for metrics and logs. */
export interface RollupEvents {
  onRun(run: WindowOfCluster & { readonly seconds: number; readonly rows: number }): void;
  /** After each look: windows that wait, and the end of the last settled hour, milliseconds since the epoch. */
  onLooked(state: { readonly dirty: number; readonly settledUntilMillis: number | undefined }): void;
  onDropped(runs: number): void;
  /** A look, a run or a drop failed; it is tried again. */
  onError(error: unknown, window?: WindowOfCluster): void;
}

/** How often what is done. */
export interface RollupTiming extends ScheduleTiming {
  readonly lookMillis: number;
  readonly dropMillis: number;
  /** How far behind the newest position the watermark stays. */
  readonly overlapMillis: number;
  /** How long after its end an hour is settled. */
  readonly settleMillis: number;
}

/** What the service runs with, beside the schedule's own. */
export const ROLLUP_TIMING = {
  lookMillis: 30_000,
  dropMillis: 600_000,
  overlapMillis: 300_000,
  settleMillis: 600_000,
} as const;

/**
 * The rollups of a term: looks for windows that have changed, computes them one at a time, the newest first, and drops
 * what was superseded. A failure is told and tried again, and never ends the term; a higher generation in the store does,
 * as then another one has been elected meanwhile.
 */
export async function makeRollups(
  options: {
    readonly bus: Bus;
    readonly store: StoreClient;
    readonly now: () => number;
    readonly events: RollupEvents;
    readonly timing: RollupTiming;
  },
  { generation, signal }: Term,
): Promise<void> {
  const { bus, store, now, events, timing } = options;
  const dirty = createDirtyWindows({ store, ends: () => partitionEnds(bus), now, overlapMillis: timing.overlapMillis });
  const schedule = createSchedule(timing);
  let lookAt = 0;
  let dropAt = 0;

  while (!signal.aborted) {
    try {
      if (now() >= lookAt) {
        lookAt = now() + timing.lookMillis;
        if ((await highestGeneration(store)) > generation) return;
        for (const window of await dirty.look()) schedule.touch(window, now());
        const settledUntilMillis = settledUntil(dirty.passedMillis, timing.settleMillis);
        events.onLooked({ dirty: schedule.size, settledUntilMillis });
      }
      if (now() >= dropAt && !signal.aborted) {
        dropAt = now() + timing.dropMillis;
        events.onDropped(await dropSuperseded(store, now()));
      }
    } catch (error) {
      events.onError(error);
    }
    const window = signal.aborted ? undefined : schedule.next(now());
    if (window === undefined) await pause(Math.max(50, lookAt - now()), signal);
    else await compute(window, schedule, dirty);
  }

  async function compute(window: WindowOfCluster, of: Schedule, { watermark }: DirtyWindows): Promise<void> {
    const started = performance.now();
    of.begin(window, now());
    try {
      const { cluster, windowStart } = window;
      const run = { cluster, windowStart, runId: newRunId(), generation, watermark, publishedAt: now() };
      const { rows } = await computeWindow(store, run, signal);
      const millis = performance.now() - started;
      of.finish(window, millis);
      events.onRun({ cluster, windowStart, seconds: millis / 1000, rows });
    } catch (error) {
      of.fail(window, now());
      if (!signal.aborted) events.onError(error, window);
    }
  }
}

async function partitionEnds(bus: Bus): Promise<ReadonlyMap<number, number>> {
  return new Map((await bus.watermarks(SAMPLES_TOPIC)).map(({ partition, high }) => [partition, high]));
}
