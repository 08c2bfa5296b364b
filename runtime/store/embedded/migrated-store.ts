/** An embedded store for one command, with the tables of this release, without the time that the migrations take. */
import { createHash } from "node:crypto";
import { accessSync, constants, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createStoreClient, type StoreClient } from "../client.ts";
import { migrate, type MigrateOptions } from "../migrate.ts";
import { StoreError } from "../store-error.ts";
import { makePrivateFolder } from "../../private-folder.ts";
import { chdbVersion } from "./addon.ts";
import { packFolder, unpackFolder } from "./folder-copy.ts";
import { storeFolder } from "./store-folder.ts";
import { startEmbeddedStore, type EmbeddedStore, type EmbeddedStoreOptions } from "./supervisor.ts";

/** The settings of a migrated store. */
export interface MigratedStoreOptions extends Pick<EmbeddedStoreOptions, "folder" | "program" | "logger"> {
  readonly database: string;
  /** The folder of `NNNN_name.sql` files. */
  readonly migrations: string;
  readonly views: MigrateOptions["views"];
  readonly retentionDays: MigrateOptions["retentionDays"];
  /** The folder for copies of migrated stores. Without it, each store is migrated. */
  readonly keptIn: string | undefined;
}

/**
 * Starts a store in a new folder with migrated tables. The first start of a release migrates the store and keeps a copy of it in `keptIn`; the
 * later ones begin with the copy. A copy that is broken is replaced. Without a folder that can be written, the store is migrated at every start.
 * Fails with a {@link StoreError}.
 */
export async function startMigratedStore(options: MigratedStoreOptions): Promise<EmbeddedStore> {
  const copy = copyOf(options);
  if (copy === undefined) return await startAndMigrate(options);
  const kept = await startFromCopy(copy, options);
  if (kept !== undefined) return kept;
  const migrated = await startAndMigrate(options);
  const without = await obsoleteParts(migrated, options).catch(async (error: unknown) => {
    await migrated.stop();
    throw error;
  });
  // Files are complete only after a stop.
  await migrated.stop();
  try {
    packFolder(storeFolder(options.folder).data, copy, without);
  } catch (error) {
    options.logger.warn({ err: error, copy }, "the copy of the migrated store could not be written");
  }
  return await startEmbeddedStore(options);
}

/** Returns the file of the copy; undefined if there is no folder for it. The name has everything that the copy depends on. */
function copyOf({ keptIn, migrations, views, database, retentionDays }: MigratedStoreOptions): string | undefined {
  if (keptIn === undefined) return undefined;
  try {
    makePrivateFolder(keptIn);
    accessSync(keptIn, constants.W_OK);
  } catch {
    return undefined;
  }
  const hash = createHash("sha256").update(JSON.stringify([chdbVersion(), database, retentionDays, views]));
  for (const name of readdirSync(migrations).toSorted())
    hash.update(`\n${name}\n`).update(readFileSync(join(migrations, name)));
  return join(keptIn, `store-${hash.digest("hex").slice(0, 32)}`);
}

/** Starts a store from the copy. Without a copy that works, returns undefined, and the folder of the store has no data. */
async function startFromCopy(copy: string, options: MigratedStoreOptions): Promise<EmbeddedStore | undefined> {
  const { data } = storeFolder(options.folder);
  if (!unpackFolder(copy, data)) return undefined;
  let store: EmbeddedStore | undefined;
  try {
    store = await startEmbeddedStore(options);
    await withClient(store, options.database, (client) => client.query("SELECT name FROM migrations LIMIT 1"));
    return store;
  } catch (error) {
    await store?.stop();
    if (!(error instanceof StoreError)) throw error;
    options.logger.warn({ err: error, copy }, "the copy of the migrated store does not work; it is made again");
    rmSync(copy, { force: true });
    rmSync(data, { recursive: true, force: true });
    return undefined;
  }
}

async function startAndMigrate(options: MigratedStoreOptions): Promise<EmbeddedStore> {
  const { database, migrations: folder, views, retentionDays, logger } = options;
  const store = await startEmbeddedStore(options);
  const connect = (name: string): StoreClient => createStoreClient({ url: store.url, ...store.user, database: name });
  try {
    await migrate({ connect, database, folder, views, retentionDays, now: Date.now, logger });
    return store;
  } catch (error) {
    await store.stop();
    throw error;
  }
}

/** Merges the records of the migrations, and returns the folders of the parts that the merge has replaced. */
async function obsoleteParts(store: EmbeddedStore, { database }: MigratedStoreOptions): Promise<ReadonlySet<string>> {
  return await withClient(store, database, async (client) => {
    await client.command("OPTIMIZE TABLE migrations FINAL");
    const parts = await client.query<{ path: string }>("SELECT path FROM system.parts WHERE NOT active");
    return new Set(parts.map(({ path }) => path.replace(/\/$/, "")));
  });
}

async function withClient<Value>(
  { url, user }: EmbeddedStore,
  database: string,
  use: (client: StoreClient) => Promise<Value>,
): Promise<Value> {
  const client = createStoreClient({ url, ...user, database });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
