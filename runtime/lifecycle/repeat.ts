/** Work that is done again and again. */
export interface Repeated {
  /** Begins no more turns. It waits for none: what only shows something must not hold up an end either. */
  stop(): Promise<void>;
}

/**
 * Does work at once, and then every so many milliseconds until it is stopped. A turn that fails is told and no more comes of it: what
 * only shows something must not end the process. While a turn lasts, those that come due are left out.
 */
export function repeat(
  everyMillis: number,
  work: () => void | Promise<void>,
  onError: (error: unknown) => void,
): Repeated {
  let isUnderWay = false;

  async function turn(): Promise<void> {
    isUnderWay = true;
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      isUnderWay = false;
    }
  }

  const timer = setInterval(() => {
    if (!isUnderWay) void turn();
  }, everyMillis);
  void turn();
  return { stop: () => Promise.resolve(clearInterval(timer)) };
}
