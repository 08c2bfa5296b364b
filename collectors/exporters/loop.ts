import { systemClock, type Clock } from "../../runtime/clock.ts";
import { hash32 } from "./targets/hash.ts";

/** Clocks and a timer that a test can control. */
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
  /** Waits until a scrape in progress has finished, and starts no other. */
  stop(): Promise<void>;
}

/**
 * The grid on which scrapes begin. Targets that start together find warm processor caches, where each alone would find cold ones. The grid
 * is at most a tenth of the interval, so that targets are almost evenly spread.
 */
const STEP_MILLIS = 500;
const STEPS_AT_LEAST = 10;

/**
 * Runs `scrape` once per interval, at an offset that follows from the target's key. Targets spread over the interval, and each keeps its
 * offset across restarts. Scrapes never overlap: a scrape that is due while another runs is skipped and reported. The schedule uses the
 * monotonic clock, so that setting the clock does not bunch or stop scrapes.
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
  const phase = hash32(key) % intervalMillis;
  const offset = phase - (phase % Math.min(STEP_MILLIS, intervalMillis / STEPS_AT_LEAST));
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
