import type { Command } from "commander";
import { loadConfig } from "../runtime/config/load.ts";
import { migrateStore, outsideStore } from "../runtime/store/connection.ts";
import { createLogger } from "../runtime/telemetry/log.ts";
import { CommandError, type CommandContext } from "./context.ts";

/** `gpu-ledger migrate`: brings an outside ClickHouse's tables to where this release wants them; `up` does so itself. */
export function addMigrate(program: Command, context: CommandContext): void {
  program
    .command("migrate")
    .description("create or alter the store's tables for this release")
    .option("--config <file>", "the configuration")
    .action(async (options: { config?: string }) => {
      const { config } = loadConfig(options.config, context.env);
      const address = outsideStore(config);
      if (address === undefined) {
        throw new CommandError("store.kind is embedded: `gpu-ledger up` migrates its own store when it starts", 2);
      }
      const { applied, total } = await migrateStore(address, config, createLogger(config.log.level));
      const done = applied.length === 0 ? "nothing to do" : `applied ${applied.join(", ")}`;
      context.stdout.write(`${done}; ${total} migrations in all\n`);
    });
}
