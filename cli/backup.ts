import type { Command } from "commander";
import type { BackupOptions } from "./actions/backup.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger backup`: writes everything that cannot be computed again into a folder of files, while the ledger runs. */
export function addBackup(program: Command, context: CommandContext): void {
  program
    .command("backup")
    .description("write charges, statements, the audit trail and histories into a folder of files; see docs/backup.md")
    .requiredOption("--out <folder>", "an empty or a new folder")
    .option("--config <file>", "the configuration")
    .action(async (options: BackupOptions) => (await import("./actions/backup.ts")).runBackup(options, context));
}
