import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Config } from "../config/schema.ts";
import { createStoreClient, type StoreClient } from "./client.ts";
import { migrate, type MigrateOutcome } from "./migrate.ts";

/** Where the store is reached, and as whom. Plain data, so that one process can tell another. */
export interface StoreAddress {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** The address of the outside ClickHouse that the configuration names; `undefined` for the embedded store. */
export function outsideStore({ store }: Config): StoreAddress | undefined {
  if (store.kind === "embedded" || store.clickhouse === undefined) return undefined;
  const { url, username, password = "" } = store.clickhouse;
  return { url, username, password, database: store.database };
}

/** A client of the store. A cluster's inserts wait for a quorum of its replicas. */
export function connectStore(address: StoreAddress, { store }: Config): StoreClient {
  const replicated = store.clickhouse?.cluster !== undefined;
  return createStoreClient({ ...address, ...(replicated ? { insertSettings: { insert_quorum: "auto" } } : {}) });
}

/** Brings the store's tables to where this release wants them. */
export function migrateStore(address: StoreAddress, config: Config, logger: Logger): Promise<MigrateOutcome> {
  const { rawDays, fiveMinuteDays, clickhouse } = config.store;
  return migrate({
    connect: (database) => connectStore({ ...address, database }, config),
    database: address.database,
    folder: MIGRATIONS_FOLDER,
    retentionDays: { raw: rawDays, fiveMinutes: fiveMinuteDays },
    now: Date.now,
    logger,
    ...(clickhouse?.cluster === undefined ? {} : { cluster: clickhouse.cluster }),
  });
}

/** The numbered SQL files, beside the code; the build copies them. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL("migrations", import.meta.url));
