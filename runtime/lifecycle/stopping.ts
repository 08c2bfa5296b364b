import type { Logger } from "pino";

/** Something that was started and can be stopped. */
export interface Stoppable {
  readonly name: string;
  stop(): Promise<void>;
}

/** What was started in order, to be stopped in the reverse order. */
export interface Lifecycle {
  /** Remembers something to stop, and gives it back. */
  add<Value extends { stop(): Promise<void> }>(name: string, value: Value): Value;
  /** Stops everything once, last started first; a part that fails to stop is logged and does not keep the others. */
  stop(): Promise<void>;
}

/** A lifecycle with nothing in it. */
export function createLifecycle(logger: Logger): Lifecycle {
  const started: Stoppable[] = [];
  let stopped: Promise<void> | undefined;
  return {
    add(name, value) {
      started.push({ name, stop: () => value.stop() });
      return value;
    },
    stop() {
      stopped ??= (async () => {
        for (const { name, stop } of started.reverse()) {
          await stop().catch((error: unknown) =>
            logger.error({ err: error, part: name }, "a part did not stop cleanly"),
          );
        }
      })();
      return stopped;
    },
  };
}

/** Resolves with the signal when the process is asked to end; a second one ends it at once. */
export function untilAsked(signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"]): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(1);
      asked = true;
      resolve(signal);
    };
    for (const signal of signals) process.on(signal, onSignal);
  });
}
