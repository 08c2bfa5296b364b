import type { ChildProcess } from "node:child_process";
import type { Logger } from "pino";
import { createBackOff } from "../back-off.ts";

/** A child process that is kept alive. */
export interface SupervisedChild {
  readonly name: string;
  /** The number of restarts. */
  readonly restarts: number;
  readonly processId: number | undefined;
  /** Sends a message to the child over IPC; does nothing while there is no process. */
  send(message: string): void;
  /** Asks the child to end, and kills it after `graceMillis`. */
  stop(): Promise<void>;
}

const BACK_OFF = { firstMillis: 200, longestMillis: 10_000 };
/** A child that lived this long is restarted at once. */
const STEADY_MILLIS = 30_000;

/**
 * Starts a child and restarts it whenever it ends, with growing pauses while it does not live long. `start` creates the process. Its IPC
 * messages go to `onMessage`.
 */
export function superviseChild(options: {
  readonly name: string;
  readonly start: () => ChildProcess;
  readonly onMessage: (message: unknown) => void;
  readonly graceMillis: number;
  readonly logger: Logger;
}): SupervisedChild {
  const { name, start, onMessage, graceMillis, logger } = options;
  let restarts = 0;
  const backOff = createBackOff(BACK_OFF);
  let stopping = false;
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;

  function launch(): void {
    const startedAt = performance.now();
    const launched = start();
    child = launched;
    launched.on("message", onMessage);
    launched.on("error", (error) => logger.error({ err: error, child: name }, "a child process failed"));
    launched.once("exit", (code, signal) => {
      child = undefined;
      if (stopping) return;
      restarts += 1;
      if (performance.now() - startedAt > STEADY_MILLIS) backOff.reset();
      const againInMillis = backOff.next();
      logger.warn({ child: name, code, signal, againInMillis }, "a child process ended");
      timer = setTimeout(launch, againInMillis);
    });
  }
  launch();

  return {
    name,
    get restarts() {
      return restarts;
    },
    get processId() {
      return child?.pid;
    },
    send(message) {
      if (child?.connected === true) child.send(message);
    },
    async stop() {
      stopping = true;
      clearTimeout(timer);
      const last = child;
      if (last === undefined || last.exitCode !== null || last.signalCode !== null) return;
      await new Promise<void>((resolve) => {
        const kill = setTimeout(() => last.kill("SIGKILL"), graceMillis);
        last.once("exit", () => {
          clearTimeout(kill);
          resolve();
        });
        last.kill("SIGTERM");
      });
    },
  };
}
