/** Keeps the embedded store running: starts its process, restarts it when it dies, and stops it. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

import type { Logger } from "pino";

import type { FromStoreProcess, StoreProcessOptions, ToStoreProcess } from "./child-messages.ts";
import { loadOrCreateUser, type StoreUser } from "./credentials.ts";
import { storeThreadPoolSize } from "./lane.ts";
import { storeFolder } from "./store-folder.ts";
import { createBackOff } from "../../back-off.ts";
import { StoreError } from "../store-error.ts";

/** The settings of the supervisor. */
export interface EmbeddedStoreOptions {
  /** The store's folder. It is created with access for its owner only. */
  readonly folder: string;
  /** The program of the store's process and its arguments: Node, and `dist/runtime/store/embedded/main.js`. */
  readonly program: readonly string[];
  readonly logger: Logger;
  /** The port on the loopback address. 0, the default, takes a free port and keeps it across restarts. */
  readonly port?: number;
  /** The memory limit of the whole engine; 4 GiB by default. */
  readonly maxMemoryBytes?: number;
  /** The largest uncompressed body of an insert; 256 MiB by default. */
  readonly maxInsertBytes?: number;
  /** The time limit of the first start; 60 s by default. */
  readonly startTimeoutMillis?: number;
  /** Called when the store answers again after its process died. */
  readonly onRestart?: (restarts: number) => void;
}

/** A running store. */
export interface EmbeddedStore {
  /** `http://127.0.0.1:<port>`; the same across restarts. */
  readonly url: string;
  /** The engine's version. */
  readonly version: string;
  /** The user of the program itself. The embedded store has no other users. */
  readonly user: StoreUser;
  /** The number of restarts of the process. */
  readonly restarts: number;
  /** The ID of the running process; undefined during a restart. */
  readonly processId: number | undefined;
  /** Ends the process within 5 s. Acknowledged inserts are kept in any case. */
  stop(): Promise<void>;
}

const backOffBounds = { firstMillis: 100, longestMillis: 5_000 };
/** A process that ran at least this long before it died is restarted at once. */
const steadyMillis = 30_000;
const stopPatienceMillis = 4_000;
const keptErrorLines = 20;

/**
 * Starts the store and resolves when it answers. Fails with a {@link StoreError}: `folder-locked` if another process holds the folder,
 * `unavailable` with the output of the process if it does not start.
 */
export async function startEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { logger } = options;
  const user = loadOrCreateUser(storeFolder(options.folder).credentialsFile);
  const startTimeoutMillis = options.startTimeoutMillis ?? 60_000;
  const stopping = new AbortController();
  let restarts = 0;

  let current: StoreProcess | undefined = await startProcess(options, options.port ?? 0, startTimeoutMillis);
  const { port, version } = current;
  const watch = keepRunning(current);

  async function keepRunning(first: StoreProcess): Promise<void> {
    const backOff = createBackOff(backOffBounds);
    let lives = first;
    for (;;) {
      const startedAt = performance.now();
      const reason = await lives.ended;
      current = undefined;
      if (stopping.signal.aborted) return;
      logger.error({ reason, restarts }, "the embedded store's process died; it is started again");
      if (performance.now() - startedAt > steadyMillis) backOff.reset();
      const again = await startAgain();
      if (again === undefined) return;
      lives = again;
      current = again;
      restarts += 1;
      logger.info({ restarts, processId: again.processId }, "the embedded store answers again");
      options.onRestart?.(restarts);
    }

    async function startAgain(): Promise<StoreProcess | undefined> {
      while (!stopping.signal.aborted) {
        const backOffMillis = backOff.next();
        await sleep(backOffMillis, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return undefined;
        try {
          const started = await startProcess(options, port, startTimeoutMillis);
          // `stop` may have been called in the meantime. It did not see this process, so this code stops it.
          if (!stopping.signal.aborted) return started;
          await started.stop();
        } catch (error) {
          logger.error({ err: error, backOffMillis }, "the embedded store could not be started again");
        }
      }
      return undefined;
    }
  }

  return {
    url: `http://127.0.0.1:${port}`,
    version,
    user,
    get restarts() {
      return restarts;
    },
    get processId() {
      return current?.processId;
    },
    async stop() {
      stopping.abort();
      await current?.stop();
      await watch;
    },
  };
}

interface StoreProcess {
  readonly port: number;
  readonly version: string;
  readonly processId: number;
  /** Resolves with the exit code or signal of the process. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

async function startProcess(
  options: EmbeddedStoreOptions,
  port: number,
  startTimeoutMillis: number,
): Promise<StoreProcess> {
  const [executable = process.execPath, module = "", ...rest] = options.program;
  // The environment is not passed on: the store must not depend on the time zone or on a personal configuration.
  const child = fork(module, rest, {
    execPath: executable,
    execArgv: [],
    env: { UV_THREADPOOL_SIZE: String(storeThreadPoolSize), TZ: "UTC" },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const output = collectOutput(child, options.logger);
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? `exit ${code}`));
    child.once("error", (error) => resolve(error.message));
  });
  const stop = async (): Promise<void> => {
    send(child, { kind: "stop" });
    const patience = setTimeout(() => child.kill("SIGKILL"), stopPatienceMillis);
    await ended;
    clearTimeout(patience);
  };

  send(child, { kind: "start", options: processOptions(options, port) });
  const timeout = AbortSignal.timeout(startTimeoutMillis);
  const outcome = await Promise.race([
    new Promise<FromStoreProcess>((resolve) => child.once("message", (message: FromStoreProcess) => resolve(message))),
    ended.then((reason): FromStoreProcess => ({ kind: "failed", message: `its process ended (${reason})` })),
    new Promise<FromStoreProcess>((resolve) => {
      timeout.addEventListener("abort", () =>
        resolve({ kind: "failed", message: `no answer in ${startTimeoutMillis} ms` }),
      );
    }),
  ]);
  if (outcome.kind === "ready" && child.pid !== undefined) {
    return { port: outcome.port, version: outcome.version, processId: child.pid, ended, stop };
  }
  child.kill("SIGKILL");
  await ended;
  throw startFailure(options.folder, outcome.kind === "failed" ? outcome.message : "it has no process", output());
}

function startFailure(folder: string, message: string, said: string): StoreError {
  if (/Cannot lock file/.test(said)) {
    return new StoreError("folder-locked", `The store's folder ${folder} is in use by another process.`, {
      retriable: true,
    });
  }
  return new StoreError("unavailable", `The embedded store did not start: ${message}. Its output: ${said}`, {
    retriable: true,
  });
}

function processOptions(options: EmbeddedStoreOptions, port: number): StoreProcessOptions {
  return {
    folder: options.folder,
    port,
    engine: { maxMemoryBytes: options.maxMemoryBytes ?? 4 * 1024 ** 3 },
    body: { maxStatementBytes: 16 * 1024 ** 2, maxInsertBytes: options.maxInsertBytes ?? 256 * 1024 ** 2 },
    runner: { maxResultBytes: 512 * 1024 ** 2 },
  };
}

/** Logs the output of the process line by line and keeps the last lines for the error of a failed start. */
function collectOutput(child: ChildProcess, logger: Logger): () => string {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\n")) {
        if (line.trim() === "") continue;
        lines.push(line);
        if (lines.length > keptErrorLines) lines.shift();
        logger.warn({ line }, "output of the embedded store's process");
      }
    });
  }
  return () => lines.join("\n");
}

function send(child: ChildProcess, message: ToStoreProcess): void {
  // A dead process cannot receive a message; `ended` reports it.
  if (child.connected) child.send(message, () => undefined);
}
