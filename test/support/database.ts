import { cp } from "node:fs/promises";
import { join, resolve } from "node:path";
import pino from "pino";
import { vi } from "vitest";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import { storeFolder } from "../../runtime/store/embedded/store-folder.ts";
import { migrate } from "../../runtime/store/migrate.ts";
import { CHARGE_VIEWS } from "../../runtime/store/schema/charge-views.ts";
import { sharedStore, type SharedStore } from "./embedded-store.ts";

/**
 * A migrated database of the shared store, and a backup of its tables. Restoring the tables and creating the views again costs a third of the
 * migrations. The backup has no views: if a database is restored under another name, the engine drops the names that views give to their tables.
 */
const TEMPLATE = "template";

/** The longest wait for another test file that fills a fleet. */
const FILL_MILLIS = 300_000;

/** Migrates the template in the shared store, from which {@link createTestDatabase} makes others. */
export async function makeTemplate(store: SharedStore): Promise<void> {
  const client = await migratedDatabase(store, TEMPLATE);
  await backUp(client);
  await client.close();
}

/** Backs up the tables of a client's database under the name of the database. */
async function backUp(client: StoreClient): Promise<void> {
  const { database } = client;
  const tables = await client.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = '${database}' AND engine != 'View'`,
  );
  const all = tables.map(({ name }) => `TABLE ${database}.${name}`).join(", ");
  await client.command(`BACKUP ${all} TO File('${database}')`);
}

/** A client of a migrated database without TTL, so that rows of any time stay. */
export async function migratedDatabase(store: SharedStore, database: string): Promise<StoreClient> {
  await migrate({
    connect: (name) => connectTo(name, store),
    database,
    folder: resolve("runtime/store/migrations"),
    views: CHARGE_VIEWS,
    retentionDays: { raw: 0, fiveMinutes: 0 },
    now: Date.now,
    logger: pino({ level: "silent" }),
  });
  return connectTo(database, store);
}

/**
 * A client of a new database like that of {@link migratedDatabase}, made from the template; in the shared store by default. Fails where the store
 * already has a database of that name: each test file uses names of its own.
 */
export async function createTestDatabase(database: string, store: SharedStore = sharedStore()): Promise<StoreClient> {
  const { folder } = sharedStore();
  if (store.folder !== folder) await cp(backupIn(folder), backupIn(store.folder), { recursive: true });
  const outside = connectTo("default", store);
  await outside.command(`CREATE DATABASE ${database}`);
  await outside.close();
  return restored(database, TEMPLATE, store);
}

/**
 * A client of a new database of the shared store with a fleet that several test files read. The first of them to come fills `fleet`, and each gets
 * a copy of its own. Fails like {@link createTestDatabase}.
 */
export async function createFilledDatabase(
  database: string,
  fleet: string,
  fill: (store: StoreClient) => Promise<unknown>,
): Promise<StoreClient> {
  const outside = connectTo("default");
  await outside.command(`CREATE DATABASE ${database}`);
  const isFirst = await outside.command(`CREATE DATABASE ${fleet}`).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const filled = await restored(fleet, TEMPLATE, sharedStore());
    await fill(filled);
    await backUp(filled);
    await outside.command(`CREATE DATABASE ${fleet}_is_filled`);
    await filled.close();
  }
  const isFilled = (): Promise<boolean> =>
    outside.query(`SELECT 1 FROM system.databases WHERE name = '${fleet}_is_filled'`).then(({ length }) => length > 0);
  await vi.waitUntil(isFilled, { timeout: FILL_MILLIS, interval: 200 });
  await outside.close();
  return restored(database, fleet, sharedStore());
}

/** Restores the tables of a backup into an empty database, and creates the views. */
async function restored(database: string, backup: string, store: SharedStore): Promise<StoreClient> {
  const client = connectTo(database, store);
  await client.command(`RESTORE DATABASE ${backup} AS ${database} FROM File('${backup}')`);
  for (const sql of await viewsOfTemplate()) await client.command(sql.replaceAll(`${TEMPLATE}.`, `${database}.`));
  return client;
}

/** The statements that create the template's views, each after the views that it reads. */
async function viewsOfTemplate(): Promise<readonly string[]> {
  const client = connectTo(TEMPLATE);
  const views = await client.query<{ name: string; sql: string }>(
    `SELECT name, create_table_query AS sql FROM system.tables WHERE database = '${TEMPLATE}' AND engine = 'View'`,
  );
  await client.close();
  const isReadBy = (name: string, sql: string): boolean => new RegExp(`\\b${TEMPLATE}\\.${name}\\b`).test(sql);
  const sorted: string[] = [];
  for (let left = views; left.length > 0;) {
    const isFree = ({ name, sql }: { readonly name: string; readonly sql: string }): boolean =>
      left.every((other) => other.name === name || !isReadBy(other.name, sql));
    sorted.push(...left.filter(isFree).map(({ sql }) => sql));
    left = left.filter((view) => !isFree(view));
  }
  return sorted;
}

function backupIn(folder: string): string {
  return join(storeFolder(folder).backups, TEMPLATE);
}

/** A client of an existing database of a running store; of the shared store by default. */
export function connectTo(database: string, { url, user }: SharedStore = sharedStore()): StoreClient {
  return createStoreClient({ url, ...user, database, requestTimeoutMillis: 20_000 });
}
