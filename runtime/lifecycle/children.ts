import type { ChildProcess } from "node:child_process";
import type { Logger } from "pino";
import { keepRunning, runningChild, type RunningProcess } from "./keep-running.ts";

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

interface RunningChild extends RunningProcess {
  readonly child: ChildProcess;
}

const PAUSES = { firstMillis: 200, longestMillis: 10_000 };

/** Starts a child and keeps it running. `start` creates the process. Its IPC messages go to `onMessage`. */
export function superviseChild(options: {
  readonly name: string;
  readonly start: () => ChildProcess;
  readonly onMessage: (message: unknown) => void;
  readonly graceMillis: number;
  readonly logger: Logger;
}): SupervisedChild {
  const { name, onMessage, graceMillis } = options;
  const logger = options.logger.child({ child: name });

  function launch(): RunningChild {
    const child = options.start();
    child.on("message", onMessage);
    child.on("error", (error) => logger.error({ err: error }, "a child process failed"));
    return { child, ...runningChild(child, () => child.kill("SIGTERM"), graceMillis) };
  }

  const kept = keepRunning(launch(), {
    start: async () => launch(),
    pauses: PAUSES,
    onEnded: (reason) => logger.warn({ reason }, "a child process ended; it is started again"),
    onRestarted: (restarts) => logger.info({ restarts }, "a child process is started again"),
    onStartFailed: (error) => logger.error({ err: error }, "a child process could not be started again"),
  });

  return {
    name,
    get restarts() {
      return kept.restarts;
    },
    get processId() {
      return kept.current?.child.pid;
    },
    send(message) {
      const child = kept.current?.child;
      if (child?.connected === true) child.send(message);
    },
    stop: () => kept.stop(),
  };
}
