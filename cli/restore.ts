import type { Command } from "commander";
import type { RestoreOptions } from "./actions/restore.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger restore`: fills an empty store from a backup, and verifies the closed periods in it. */
export function addRestore(program: Command, context: CommandContext): void {
  program
    .command("restore")
    .description("fill an empty store from a backup and verify it, while nothing else runs; see docs/backup.md")
    .requiredOption("--from <folder>", "the folder of the backup")
    .option("--by <name>", "the person for the audit trail (default: the current user)")
    .option("--config <file>", "the configuration")
    .action(async (options: RestoreOptions) => (await import("./actions/restore.ts")).runRestore(options, context));
}
