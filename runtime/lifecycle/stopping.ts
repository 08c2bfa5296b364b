import type { Logger } from "pino";

/** A started part that can be stopped. */
export interface Stoppable {
  readonly name: string;
  stop(): Promise<void>;
}

/** The started parts, to be stopped in reverse order. */
export interface Lifecycle {
  /** Adds a part to stop and returns it. */
  add<Value extends { stop(): Promise<void> }>(name: string, value: Value): Value;
  /** Stops all parts once, last started first. A failure to stop is logged and does not keep the others from stopping. */
  stop(): Promise<void>;
}

/** Creates an empty lifecycle. */
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

/** Resolves with the signal when the process is asked to end. A second signal ends the process at once. */
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
