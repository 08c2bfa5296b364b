import type { ChildProcess } from "node:child_process";
import { createBackOff, type BackOffBounds } from "../back-off.ts";
import { pause } from "../clock.ts";

/** A process that runs. */
export interface RunningProcess {
  /** Resolves with the exit code or signal of the process. */
  readonly ended: Promise<string>;
  /** Asks the process to end, and kills it if it does not end in time. Resolves when it has ended. */
  stop(): Promise<void>;
}

/** A process that is started again when it ends. */
export interface KeptProcess<Running extends RunningProcess> {
  readonly restarts: number;
  /** Undefined during a restart. */
  readonly current: Running | undefined;
  /** Stops the process, and ends the restarts. */
  stop(): Promise<void>;
}

/** The events of a process that is kept running. */
export interface KeepRunningEvents {
  /** The process has ended by itself. */
  onEnded(reason: string): void;
  onRestarted(restarts: number): void;
  /** A start has failed. The next one follows after a longer pause. */
  onStartFailed(error: unknown): void;
}

/** After a process that lived this long, the pauses begin with the first one again. */
const STEADY_MILLIS = 30_000;

/**
 * Keeps a process running: starts it again whenever it ends, after a pause that grows while the process does not live long. `first` is the
 * running process, `start` starts another one and may fail.
 */
export function keepRunning<Running extends RunningProcess>(
  first: Running,
  options: { readonly start: () => Promise<Running>; readonly pauses: BackOffBounds } & KeepRunningEvents,
): KeptProcess<Running> {
  const stopping = new AbortController();
  const backOff = createBackOff(options.pauses);
  let restarts = 0;
  let current: Running | undefined = first;

  async function startAgain(): Promise<Running | undefined> {
    for (;;) {
      await pause(backOff.next(), stopping.signal);
      if (stopping.signal.aborted) return undefined;
      try {
        const started = await options.start();
        if (!stopping.signal.aborted) return started;
        // `stop` was called in the meantime and has not seen this process.
        await started.stop();
      } catch (error) {
        options.onStartFailed(error);
      }
    }
  }

  async function keep(): Promise<void> {
    for (let running: Running | undefined = first; running !== undefined; running = await startAgain()) {
      current = running;
      if (running !== first) options.onRestarted((restarts += 1));
      const startedAt = performance.now();
      const reason = await running.ended;
      current = undefined;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > STEADY_MILLIS) backOff.reset();
      options.onEnded(reason);
    }
  }
  const kept = keep();

  return {
    get restarts() {
      return restarts;
    },
    get current() {
      return current;
    },
    async stop() {
      stopping.abort();
      await current?.stop();
      await kept;
    },
  };
}

/** Returns a child as a running process. `ask` asks the child to end; after `graceMillis`, the child is killed. */
export function runningChild(child: ChildProcess, ask: () => void, graceMillis: number): RunningProcess {
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? `exit ${code}`));
    // A child that could not be started has no exit.
    child.on("error", (error) => child.pid === undefined && resolve(error.message));
  });
  return {
    ended,
    async stop() {
      ask();
      const kill = setTimeout(() => child.kill("SIGKILL"), graceMillis);
      await ended;
      clearTimeout(kill);
    },
  };
}
