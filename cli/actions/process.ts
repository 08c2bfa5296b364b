import { loadConfig } from "../../runtime/config/load.ts";
import { createLifecycle, untilAsked } from "../../runtime/lifecycle/stopping.ts";
import { connectStore, migrateStore, outsideStore } from "../../runtime/store/connection.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { serveProcessor } from "../../services/gpu-metrics.ts";
import { createPortAccess } from "../../services/port-access.ts";
import { openPortTls } from "../../services/port-tls.ts";
import { startProcessorRole } from "../../services/processor.ts";
import { shownStatus } from "../../services/shown-status.ts";
import { beginLedger } from "../../services/begun-ledger.ts";

const EXIT_MILLIS = 500;

/** The options of `gpu-ledger process`. */
export interface ProcessOptions {
  readonly config?: string;
}

/** Runs a processor until a signal asks for the end, or until rows cannot be stored. */
export async function runProcess(options: ProcessOptions, context: CommandContext): Promise<void> {
  const { config: given } = loadConfig(options.config, context.env);
  const address = outsideStore(given);
  if (address === undefined) {
    throw new CommandError(
      "store.kind is embedded: that store runs only inside `gpu-ledger up`. A separate processor needs store.kind: clickhouse",
      2,
    );
  }
  const logger = createLogger(given.log.level, { part: "processor" });
  const lifecycle = createLifecycle(logger);
  const tls = await openPortTls("processor", given.server);
  await migrateStore(address, given, logger);
  let fail = (): void => {};
  const failed = new Promise<"failed">((resolve) => (fail = () => resolve("failed")));
  try {
    const store = connectStore(address, given);
    lifecycle.add("tokens", { stop: () => store.close() });
    const config = await beginLedger(given, store, Date.now());
    const role = lifecycle.add("processor", await startProcessorRole(config, address, logger, fail));
    const guard = createPortAccess("processor", config.server, { store, logger });
    const status = async () => ({
      version: context.version,
      processor: shownStatus(await role.status(), config.server),
    });
    const server = lifecycle.add(
      "server",
      await serveProcessor({ listen: config.server.listen, guard, tls }, role, status, logger),
    );
    logger.info({ address: server.url }, "processing");
    const why = await Promise.race([untilAsked(), failed]);
    logger.info({ why }, "stopping");
    if (why === "failed") throw new CommandError("rows cannot be stored, and the processor stopped; see the log");
  } finally {
    await lifecycle.stop();
    // Everything is stored or is delivered again. A group that could not be left in time must not keep the process alive.
    setTimeout(() => process.exit(), EXIT_MILLIS).unref();
  }
}
