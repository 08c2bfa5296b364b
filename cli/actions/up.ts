import { openSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../runtime/config/load.ts";
import { untilAsked } from "../../runtime/lifecycle/stopping.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { startSystem } from "../../services/system.ts";
import { startView } from "../up-view.ts";
import { makePrivateFolder } from "../../runtime/private-folder.ts";

/** The options of `gpu-ledger up`. */
export interface UpOptions {
  readonly config?: string;
  readonly gpus?: string;
  readonly log?: "json";
}

/** Runs all parts until a signal asks for the end. Fails with a `CommandError` if a part cannot start. */
export async function runUp(options: UpOptions, context: CommandContext): Promise<void> {
  const loaded = loadConfig(options.config, context.env);
  const config = { ...loaded.config, demo: { ...loaded.config.demo, ...readGpus(options.gpus) } };
  const onTerminal = context.stdout.isTTY === true && options.log === undefined;
  makePrivateFolder(config.data);
  const logPath = join(config.data, "gpu-ledger.log");
  const logFile = onTerminal ? openSync(logPath, "a", 0o600) : undefined;
  const logger = createLogger(config.log.level, {}, logFile);
  logger.info({ config: loaded.path ?? "defaults", data: config.data }, "starting");
  const system = await startSystem({
    config,
    version: context.version,
    logger,
    ...(logFile === undefined ? {} : { logFile }),
  }).catch((error: unknown) => {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  });
  logger.info({ address: system.address, status: `${system.address}/api/status` }, "running");
  const view = onTerminal ? startView(context.stdout, () => system.status(), logPath) : undefined;
  const signal = await untilAsked();
  view?.stop();
  logger.info({ signal }, "stopping");
  await system.stop();
  logger.info("stopped");
}

function readGpus(given: string | undefined): { gpus?: number } {
  if (given === undefined) return {};
  const gpus = Number(given);
  if (Number.isInteger(gpus) && gpus >= 8 && gpus <= 100_000) return { gpus };
  throw new CommandError(`--gpus ${given}: must be a whole number from 8 to 100000`, 2);
}
