/** Work that is done again and again. */
export interface Repeated {
  /** Ends it; resolves when the turn under way is over. */
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
  let last = turn();

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
    if (!isUnderWay) last = turn();
  }, everyMillis);
  return {
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}
