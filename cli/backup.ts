import type { Command } from "commander";
import { sizeOf, type Manifest } from "../processors/ledger/backup/manifest.ts";
import { writeBackup } from "../processors/ledger/backup/write.ts";
import { loadConfig } from "../runtime/config/load.ts";
import type { CommandContext } from "./context.ts";
import { openStore } from "./store.ts";

/** Adds `gpu-ledger backup`: writes everything that cannot be computed again into a folder of files, while the ledger runs. */
export function addBackup(program: Command, context: CommandContext): void {
  program
    .command("backup")
    .description("write charges, statements, the audit trail and histories into a folder of files; see docs/backup.md")
    .requiredOption("--out <folder>", "an empty or a new folder")
    .option("--config <file>", "the configuration")
    .action(async ({ out, config: path }: { out: string; config?: string }) => {
      const { config } = loadConfig(path, context.env);
      const store = await openStore(config);
      try {
        const manifest = await writeBackup(store, { folder: out, version: context.version, now: Date.now });
        context.stdout.write(`${out}: ${backupText(manifest)}\n`);
      } finally {
        await store.close();
      }
    });
}

/** Returns the content of a backup in a few words. */
export function backupText(manifest: Manifest): string {
  const { files, rows, bytes } = sizeOf(manifest);
  return `backup of ${manifest.begunAt}, ${rows} rows in ${files} files, ${(bytes / 1e6).toFixed(1)} MB`;
}
