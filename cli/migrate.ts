import type { Command } from "commander";
import { READER } from "../reports/access/reader-sql.ts";
import type { MigrateOptions } from "./actions/migrate.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger migrate`: migrates an outside ClickHouse's tables to this release. `up` does so itself. */
export function addMigrate(program: Command, context: CommandContext): void {
  program
    .command("migrate")
    .description("create or alter the store's tables for this release")
    .option("--config <file>", "the configuration")
    .option("--reader-password <file>", `make ${READER}, who may read (docs/access.md), with the password of a file`)
    .action(async (options: MigrateOptions) => (await import("./actions/migrate.ts")).runMigrate(options, context));
}
