import { counted } from "../../domain/counted.ts";
import { sizeOf, type Manifest } from "../../processors/ledger/backup/manifest.ts";
import { writeBackup } from "../../processors/ledger/backup/write.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { CommandContext } from "../context.ts";
import { openStore } from "../store.ts";

/** The options of `gpu-ledger backup`. */
export interface BackupOptions {
  readonly out: string;
  readonly config?: string;
}

/** Writes a backup. */
export async function runBackup({ out, config: path }: BackupOptions, context: CommandContext): Promise<void> {
  const { config } = loadConfig(path, context.env);
  const store = await openStore(config);
  try {
    const manifest = await writeBackup(store, { folder: out, version: context.version, now: Date.now });
    context.stdout.write(`${out}: ${backupText(manifest)}\n`);
  } finally {
    await store.close();
  }
}

/** Returns the content of a backup in a few words. */
export function backupText(manifest: Manifest): string {
  const { files, rows, bytes } = sizeOf(manifest);
  return `backup of ${manifest.begunAt}, ${counted(rows, "row")} in ${counted(files, "file")}, ${(bytes / 1e6).toFixed(1)} MB`;
}
