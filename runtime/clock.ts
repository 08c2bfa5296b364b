/** The machine's two clocks. Code that depends on time takes them as a parameter, so that a test can move them. */
export interface Clock {
  /** Returns the wall time, milliseconds since the epoch. It may go back, so it never decides an order. */
  nowMillis(): number;
  /** Returns milliseconds since an unknown start. It never goes back, and all processes of one machine share it. */
  monotonicMillis(): number;
}

/**
 * The machine's clocks. `process.hrtime` reads CLOCK_MONOTONIC, which counts from the machine's start for all of its processes alike
 * (clock_gettime(2)). Sessions of several processes can therefore be compared with it.
 */
export const systemClock: Clock = {
  nowMillis: () => Date.now(),
  monotonicMillis: () => Number(process.hrtime.bigint() / 1_000_000n),
};

/** Resolves after `millis` milliseconds, or when the signal is aborted. */
export function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, millis);
    signal.addEventListener("abort", done, { once: true });
  });
}
