import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Config } from "../config/schema.ts";
import { createStoreClient, type StoreClient } from "./client.ts";
import { migrate, type MigrateOutcome } from "./migrate.ts";
import { CHARGE_VIEWS } from "./schema/charge-views.ts";

/** The address and the credentials of the store. Plain data, so that one process can send it to another. */
export interface StoreAddress {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** Returns the address of the external ClickHouse in the configuration; `undefined` for the embedded store. */
export function outsideStore({ store }: Config): StoreAddress | undefined {
  if (store.kind === "embedded" || store.clickhouse === undefined) return undefined;
  const { url, username, password = "" } = store.clickhouse;
  return { url, username, password, database: store.database };
}

/** Creates a client of the store. Inserts into a cluster wait for a quorum of its replicas. */
export function connectStore(address: StoreAddress, { store }: Config): StoreClient {
  const replicated = store.clickhouse?.cluster !== undefined;
  return createStoreClient({ ...address, ...(replicated ? { insertSettings: { insert_quorum: "auto" } } : {}) });
}

/** Migrates the store's tables to the schema of this release. */
export function migrateStore(address: StoreAddress, config: Config, logger: Logger): Promise<MigrateOutcome> {
  const { rawDays, fiveMinuteDays, clickhouse } = config.store;
  return migrate({
    connect: (database) => connectStore({ ...address, database }, config),
    database: address.database,
    folder: MIGRATIONS_FOLDER,
    views: CHARGE_VIEWS,
    retentionDays: { raw: rawDays, fiveMinutes: fiveMinuteDays },
    now: Date.now,
    logger,
    ...(clickhouse?.cluster === undefined ? {} : { cluster: clickhouse.cluster }),
  });
}

/** The folder of the numbered SQL files, next to the code. The build copies them. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL("migrations", import.meta.url));
