/** A flag that one loop waits for and others set. A `set` without a waiting loop is kept for the next `wait`. */
export interface Signal {
  set(): void;
  /** Resolves at the next `set`, at once if there was one since the last `wait`, or after `timeoutMillis`. */
  wait(timeoutMillis?: number): Promise<void>;
}

/** Creates a signal that is not set. */
export function createSignal(): Signal {
  let isSet = false;
  let release: (() => void) | undefined;

  return {
    set() {
      isSet = true;
      release?.();
    },
    async wait(timeoutMillis) {
      if (!isSet) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          release = resolve;
          if (timeoutMillis !== undefined) timer = setTimeout(resolve, timeoutMillis);
        });
        clearTimeout(timer);
        release = undefined;
      }
      isSet = false;
    },
  };
}
