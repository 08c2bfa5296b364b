/** Keeps the embedded store running: starts its process, restarts it when it dies, and stops it. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";

import type { Logger } from "pino";

import type { FromStoreProcess, StoreProcessOptions, ToStoreProcess } from "./child-messages.ts";
import { loadOrCreateUser, type StoreUser } from "./credentials.ts";
import { storeThreadPoolSize } from "./lane.ts";
import { storeFolder } from "./store-folder.ts";
import { keepRunning, runningChild, type RunningProcess } from "../../lifecycle/keep-running.ts";
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

const PAUSES = { firstMillis: 100, longestMillis: 5_000 };
const STOP_MILLIS = 4_000;
const MOST_ERROR_LINES = 20;

/**
 * Starts the store and resolves when it answers. Fails with a {@link StoreError}: `folder-locked` if another process holds the folder,
 * `unavailable` with the output of the process if it does not start.
 */
export async function startEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { logger } = options;
  const user = loadOrCreateUser(storeFolder(options.folder).credentialsFile);
  const startTimeoutMillis = options.startTimeoutMillis ?? 60_000;

  const first = await startProcess(options, options.port ?? 0, startTimeoutMillis);
  const { port, version } = first;
  const kept = keepRunning(first, {
    start: () => startProcess(options, port, startTimeoutMillis),
    pauses: PAUSES,
    onEnded: (reason) => logger.error({ reason }, "the embedded store's process died; it is started again"),
    onRestarted(restarts) {
      logger.info({ restarts }, "the embedded store answers again");
      options.onRestart?.(restarts);
    },
    onStartFailed: (error) => logger.error({ err: error }, "the embedded store could not be started again"),
  });

  const url = `http://127.0.0.1:${port}`;
  const { addressFile } = storeFolder(options.folder);
  writeFileSync(addressFile, url, { mode: 0o600 });

  return {
    url,
    version,
    user,
    get restarts() {
      return kept.restarts;
    },
    get processId() {
      return kept.current?.processId;
    },
    async stop() {
      rmSync(addressFile, { force: true });
      await kept.stop();
    },
  };
}

interface StoreProcess extends RunningProcess {
  readonly port: number;
  readonly version: string;
  readonly processId: number;
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
  const { ended, stop } = runningChild(child, () => send(child, { kind: "stop" }), STOP_MILLIS);

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

function startFailure(folder: string, message: string, output: string): StoreError {
  if (/Cannot lock file/.test(output)) {
    return new StoreError("folder-locked", `The store's folder ${folder} is in use by another process.`, {
      retriable: true,
    });
  }
  return new StoreError("unavailable", `The embedded store did not start: ${message}. Its output: ${output}`, {
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
        if (lines.length > MOST_ERROR_LINES) lines.shift();
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
