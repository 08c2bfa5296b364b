/**
 * The process of the embedded store: `node dist/runtime/store/embedded/main.js`, started by the supervisor with an IPC channel and
 * `UV_THREADPOOL_SIZE`. It ends on request, and when its supervisor is gone.
 */
import pino from "pino";

import type { FromStoreProcess, StoreProcessOptions, ToStoreProcess } from "./child-messages.ts";
import { loadOrCreateUser } from "./credentials.ts";
import { openEngine } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { listenHttpAdapter } from "./http-adapter.ts";
import type { HttpAdapter } from "./http-adapter.ts";
import { createStatementRunner } from "./statement-runner.ts";
import { prepareStoreFolder } from "./store-folder.ts";

/** The time that running requests have to end. */
const drainMillis = 3_000;

interface RunningStore {
  readonly engine: Engine;
  readonly adapter: HttpAdapter;
}

let running: RunningStore | undefined;
let ending = false;

async function start(options: StoreProcessOptions): Promise<void> {
  const paths = prepareStoreFolder(options.folder);
  const engine = await openEngine(paths, options.engine);
  const adapter = await listenHttpAdapter(options.port, {
    runner: createStatementRunner(engine, options.runner),
    version: engine.version,
    user: loadOrCreateUser(paths.credentialsFile),
    incomingFolder: paths.incoming,
    bodyLimits: options.body,
    logger: pino({ level: "warn" }, pino.destination({ fd: 2, sync: true })),
  });
  running = { engine, adapter };
  send({ kind: "ready", port: adapter.port, version: engine.version });
}

/**
 * Ends the process. Closing the engine can block its thread; the supervisor kills a process that does not end in time. Without a supervisor,
 * the process kills itself instead of closing the engine. The data survives a kill.
 */
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  if (running !== undefined) {
    const drained = await Promise.race([
      running.adapter.close().then(() => true),
      new Promise<boolean>((resolve) => {
        setTimeout(() => resolve(false), drainMillis);
      }),
    ]);
    // Closing the engine during a running statement would abort it inside its threads.
    if (!drained || !process.connected) process.kill(process.pid, "SIGKILL");
    running.engine.close();
  }
  process.exit(0);
}

function send(message: FromStoreProcess): void {
  process.send?.(message);
}

process.on("message", (message: ToStoreProcess) => {
  if (message.kind === "stop") {
    void end();
    return;
  }
  start(message.options).catch((error: unknown) => {
    send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    void end();
  });
});
process.on("disconnect", () => void end());
if (!process.connected) void end();
// Ctrl-C reaches the whole process group, but the supervisor decides when the store ends.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => void end());
