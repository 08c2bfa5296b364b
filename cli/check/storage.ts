import { accessSync, constants, mkdirSync } from "node:fs";
import { openBus } from "../../runtime/bus/open.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { connectStore, MIGRATIONS_FOLDER, outsideStore } from "../../runtime/store/connection.ts";
import { listPendingMigrations } from "../../runtime/store/migrate.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { attempt, type Finding } from "./finding.ts";

/** Checks the storage: the data folder, the bus, the store. */
export async function* checkStorage(config: Config): AsyncGenerator<Finding> {
  yield await attempt(`data folder ${config.data}`, () => {
    mkdirSync(config.data, { recursive: true });
    accessSync(config.data, constants.R_OK | constants.W_OK);
    return Promise.resolve("can be read and written");
  });
  yield await attempt(`bus (${config.bus.kind})`, () => checkBus(config));
  yield await attempt(`store (${config.store.kind})`, () => checkStore(config));
}

async function checkBus(config: Config): Promise<string> {
  const bus = await openBus(config, createLogger("fatal"));
  try {
    const topics = topicDeclarations(config.bus);
    await bus.declare(topics);
    const counts = await Promise.all(
      topics.map(async ({ name }) => `${name} (${(await bus.watermarks(name)).length})`),
    );
    return `answers; topics with their partitions: ${counts.join(", ")}`;
  } finally {
    await bus.close();
  }
}

async function checkStore(config: Config): Promise<string> {
  const address = outsideStore(config);
  if (address === undefined) return "its process starts with `gpu-ledger up`";
  const store = connectStore(address, config);
  try {
    await store.ping();
    const pending = await listPendingMigrations(store, MIGRATIONS_FOLDER);
    const state =
      pending.length === 0 ? "migrated" : `not migrated: ${pending.join(", ")} (run \`gpu-ledger migrate\`)`;
    return `${address.url} answers as ${address.username}; database ${address.database} is ${state}`;
  } finally {
    await store.close();
  }
}
