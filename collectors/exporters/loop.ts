import { systemClock, type Clock } from "../../runtime/clock.ts";
import { hash32 } from "./targets/hash.ts";

/** Clocks and a timer, so that a test can move both. */
export interface LoopClock extends Clock {
  after(millis: number, run: () => void): { cancel(): void };
}

/** The machine's clocks, with its timers. */
export const machineClock: LoopClock = {
  ...systemClock,
  after(millis, run) {
    const timer = setTimeout(run, millis);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** A loop of scrapes of one target. */
export interface ScrapeLoop {
  /** Lets a scrape under way finish and starts no other. */
  stop(): Promise<void>;
}

/**
 * Scrapes begin in step: some targets together find the processor's caches warm, where each by itself would find them
 * cold. At most a tenth of the interval, so that targets are as good as evenly spread.
 */
const STEP_MILLIS = 500;
const STEPS_AT_LEAST = 10;

/**
 * Runs `scrape` once an interval, at an offset that the target's key gives: targets spread over the interval, and each
 * keeps its place over restarts. Scrapes never overlap: what is due while one runs is skipped and told. The schedule
 * follows the monotonic clock, so that a clock that is set does not bunch or stop it.
 */
export function startScrapeLoop(options: {
  readonly key: string;
  readonly intervalMillis: number;
  readonly scrape: () => Promise<void>;
  readonly onSkipped: (count: number) => void;
  readonly clock?: LoopClock;
}): ScrapeLoop {
  const { key, intervalMillis, scrape, onSkipped, clock = machineClock } = options;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  const place = hash32(key) % intervalMillis;
  const offset = place - (place % Math.min(STEP_MILLIS, intervalMillis / STEPS_AT_LEAST));
  const untilOffset = (offset - (clock.nowMillis() % intervalMillis) + intervalMillis) % intervalMillis;
  let dueAt = clock.monotonicMillis() + untilOffset;

  const runOnce = async (): Promise<void> => {
    await scrape();
    if (stopped) return;
    dueAt += intervalMillis;
    const late = clock.monotonicMillis() - dueAt;
    if (late > 0) {
      const skipped = Math.ceil(late / intervalMillis);
      dueAt += skipped * intervalMillis;
      onSkipped(skipped);
    }
    schedule();
  };
  let timer = { cancel: () => {} };
  const schedule = (): void => {
    timer = clock.after(Math.max(0, dueAt - clock.monotonicMillis()), () => {
      running = runOnce();
    });
  };
  schedule();

  return {
    async stop() {
      stopped = true;
      timer.cancel();
      await running;
    },
  };
}
