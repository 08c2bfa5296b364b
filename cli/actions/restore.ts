import { join } from "node:path";
import { readBackup } from "../../processors/ledger/backup/manifest.ts";
import { restoreBackup } from "../../processors/ledger/backup/restore.ts";
import { verifyClosings } from "../../processors/ledger/closing/verify.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { connectStore, migrateStore, MIGRATIONS_FOLDER, outsideStore } from "../../runtime/store/connection.ts";
import { STORE_PROGRAM } from "../../runtime/store/embedded/program.ts";
import { startEmbeddedStore } from "../../runtime/store/embedded/supervisor.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { loadMigrations } from "../../runtime/store/migration-file.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { backupText } from "./backup.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { verifiedText } from "./verify.ts";
import { whoRuns } from "../who.ts";

/** The options of `gpu-ledger restore`. */
export interface RestoreOptions {
  readonly from: string;
  readonly by?: string;
  readonly config?: string;
}

/** Fills an empty store from a backup and prints the verified periods. */
export async function runRestore(
  { from: folder, by, config: path }: RestoreOptions,
  context: CommandContext,
): Promise<void> {
  const { config } = loadConfig(path, context.env);
  const manifest = await readBackup(folder, (await loadMigrations(MIGRATIONS_FOLDER)).length);
  const periods = await withStore(config, async (store) => {
    await restoreBackup(store, { folder, manifest, by: by ?? whoRuns(), now: Date.now });
    return await verifyClosings(store, undefined);
  });
  context.stdout.write(`restored: ${backupText(manifest)}\n${verifiedText(periods)}\n`);
  const wrong = periods.filter(({ deviations }) => deviations.length > 0).map(({ period }) => period);
  if (wrong.length > 0) throw new CommandError(`different from the closing: ${wrong.join(", ")}`);
}

/** Lends the migrated store of a configuration: an outside ClickHouse, or the embedded one, which is started and stopped for it. */
async function withStore<Value>(config: Config, use: (store: StoreClient) => Promise<Value>): Promise<Value> {
  const logger = createLogger("error");
  const outside = outsideStore(config);
  const embedded = outside === undefined ? await startStopped(config, logger) : undefined;
  const address = outside ?? { url: embedded!.url, ...embedded!.user, database: config.store.database };
  try {
    await migrateStore(address, config, logger);
    const store = connectStore(address, config);
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    await embedded?.stop();
  }
}

async function startStopped({ data }: Config, logger: ReturnType<typeof createLogger>) {
  const folder = join(data, "store");
  try {
    return await startEmbeddedStore({ folder, program: [process.execPath, STORE_PROGRAM], logger });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "folder-locked") throw error;
    throw new CommandError(`the store of ${data} is in use: stop \`gpu-ledger up\`, and restore into a new folder`);
  }
}
