import type { Command } from "commander";
import { loadConfig } from "../runtime/config/load.ts";
import { createLifecycle, untilAsked } from "../runtime/lifecycle/stopping.ts";
import { createLogger } from "../runtime/telemetry/log.ts";
import { startStatusServer } from "../runtime/telemetry/server.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { startCollectorRole } from "./roles/collector.ts";

/** `gpu-ledger collect`: a collector of its own, for as many machines as one likes; shards share the targets. */
export function addCollect(program: Command, context: CommandContext): void {
  program
    .command("collect")
    .description("scrape the exporters of the configuration and send what they say over the bus")
    .option("--config <file>", "the configuration")
    .option("--shard <index/count>", "this collector's part of the targets, such as 0/2", "0/1")
    .action(async (options: { config?: string; shard: string }) => {
      const { config } = loadConfig(options.config, context.env);
      const shard = readShard(options.shard);
      if (config.collector.jobs.length === 0) {
        throw new CommandError("the configuration has no collector.jobs: there is nothing to scrape", 2);
      }
      const logger = createLogger(config.log.level, { part: "collector" });
      const lifecycle = createLifecycle(logger);
      try {
        const role = lifecycle.add("collector", await startCollectorRole(config, shard, logger));
        const views = {
          status: async () => ({ version: context.version, shard: options.shard, collector: await role.status() }),
          metrics: () => role.registry.metrics(),
          notReady: () => [role.notReady()].filter((reason) => reason !== undefined),
        };
        const server = lifecycle.add("server", await startStatusServer(config.server.listen, views, logger));
        logger.info({ address: server.url, shard: options.shard }, "collecting");
        const signal = await untilAsked();
        logger.info({ signal }, "stopping");
      } finally {
        await lifecycle.stop();
      }
    });
}

function readShard(text: string): { index: number; count: number } {
  const match = /^(\d+)\/(\d+)$/.exec(text);
  const [index, count] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || index >= count) {
    throw new CommandError(`--shard ${text}: it is index/count, the index below the count, such as 0/2`, 2);
  }
  return { index, count };
}
