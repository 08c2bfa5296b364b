import { loadConfig } from "../../runtime/config/load.ts";
import { createLifecycle, untilAsked } from "../../runtime/lifecycle/stopping.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { startStatusServer } from "../../runtime/http/status-server.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { startCollectorRole } from "../../services/collector.ts";
import { createPortAccess } from "../../services/port-access.ts";
import { openPortTls } from "../../services/port-tls.ts";
import { readShard } from "../shard.ts";

/** The options of `gpu-ledger collect`. */
export interface CollectOptions {
  readonly config?: string;
  readonly shard?: string;
  readonly shards?: string;
}

/** Runs a collector until a signal asks for the end. */
export async function runCollect(options: CollectOptions, context: CommandContext): Promise<void> {
  const { config } = loadConfig(options.config, context.env);
  const shard = readShard(options, context.env);
  const shown = `${shard.index}/${shard.count}`;
  const { jobs, remoteWrite } = config.collector;
  if (jobs.length === 0 && remoteWrite === undefined && config.kubernetes.clusters.length === 0) {
    const missing = "collector.jobs nor collector.remoteWrite nor kubernetes.clusters";
    throw new CommandError(`the configuration has neither ${missing}`, 2);
  }
  const logger = createLogger(config.log.level, { part: "collector" });
  const lifecycle = createLifecycle(logger);
  const tls = await openPortTls("collector", config.server);
  try {
    const role = lifecycle.add("collector", await startCollectorRole(config, shard, logger));
    const views = {
      status: async () => ({ version: context.version, shard: shown, collector: await role.status() }),
      metrics: () => role.registry.metrics(),
      notReady: () => [role.notReady()].filter((reason) => reason !== undefined),
      guard: createPortAccess("collector", config.server, { logger }),
      tls: tls && { ...tls, registry: role.registry },
      registry: role.registry,
    };
    const server = lifecycle.add("server", await startStatusServer(config.server, views, logger));
    logger.info({ address: server.url, shard: shown }, "collecting");
    const signal = await untilAsked();
    logger.info({ signal }, "stopping");
  } finally {
    await lifecycle.stop();
  }
}
