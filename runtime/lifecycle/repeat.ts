/** Work that is repeated. */
export interface Repeated {
  /** Starts no more runs. It does not wait for the current run: work that only serves display must not delay an end. */
  stop(): Promise<void>;
}

/**
 * Runs work at once, and then every `everyMillis` milliseconds until it is stopped. A failed run goes to `onError`. Work that only serves
 * display must not end the process. Runs that become due during another run are skipped.
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
