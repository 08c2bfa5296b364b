import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import {
  CLUSTER_TOPIC,
  DEAD_LETTER_TOPIC,
  INVENTORY_TOPIC,
  SAMPLES_TOPIC,
  WORKLOADS_TOPIC,
} from "../../domain/messages/topics.ts";
import { readPeriod } from "../../domain/period.ts";
import { readBackup } from "../../processors/ledger/backup/manifest.ts";
import { restoreBackup } from "../../processors/ledger/backup/restore.ts";
import { verifyClosings } from "../../processors/ledger/closing/verify.ts";
import { readDeadLetter } from "../../processors/ingest/dead-letter.ts";
import { readFact } from "../../processors/ingest/facts.ts";
import { readStatements } from "../../reports/read/statements.ts";
import { openBus } from "../../runtime/bus/open.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { connectStore, migrateStore, MIGRATIONS_FOLDER } from "../../runtime/store/connection.ts";
import { startEmbeddedStore } from "../../runtime/store/embedded/supervisor.ts";
import { loadMigrations } from "../../runtime/store/migration-file.ts";
import { storeProgram } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { silent } from "../support/pipeline.ts";
import { contentOf, messagesOf, unpackBooks, unpackVersion, versions, versionsWithBooks } from "../support/versions.ts";

const FACT_TOPICS: readonly string[] = [WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC];
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** A version's data folder, until the test ends. */
async function unpack(version: string): Promise<Config> {
  const { config, remove } = await unpackVersion(version);
  cleanups.push(remove);
  return config;
}

/** The migrated tables of a version's data folder, and a client for another database with new tables beside it. */
async function openMigrated(version: string): Promise<{ readonly written: StoreClient; readonly fresh: StoreClient }> {
  const config = await unpack(version);
  const folder = join(config.data, "store");
  const store = await startEmbeddedStore({ folder, program: storeProgram, logger: silent });
  cleanups.push(() => store.stop());
  const clientOf = async (database: string): Promise<StoreClient> => {
    const address = { url: store.url, ...store.user, database };
    await migrateStore(address, config, silent);
    const client = connectStore(address, config);
    cleanups.push(() => client.close());
    return client;
  };
  return { written: await clientOf(config.store.database), fresh: await clientOf("fresh") };
}

/** The number of rows of a table, and the hash of the named columns. */
async function contentIn(client: StoreClient, table: string, columns: readonly string[]): Promise<object> {
  const [content] = await client.query<object>(
    `SELECT count() AS counted, sum(cityHash64(tuple(${columns.join(", ")}))) AS digest FROM ${table}`,
  );
  return { table, ...content };
}

/** The columns of a table that the store computes, and that no insert can set. */
async function computedIn(client: StoreClient, table: string): Promise<ReadonlySet<string>> {
  const columns = await client.query<{ readonly name: string }>(
    `SELECT name FROM system.columns
     WHERE database = currentDatabase() AND table = {table:String} AND default_kind = 'MATERIALIZED'`,
    { table },
  );
  return new Set(columns.map(({ name }) => name));
}

it("there are fixtures, and closed books among them", () => {
  expect(versions).not.toHaveLength(0);
  expect(versionsWithBooks).not.toHaveLength(0);
});

describe.each(versions)("the data of version %s", (version) => {
  it("its messages can be read", () => {
    const messages = messagesOf(version);
    const decoder = createScrapeDecoder();
    const scrapes = messages
      .filter(({ topic, value }) => topic === SAMPLES_TOPIC && Buffer.from(value).toString() !== "no scrape")
      .map(({ value }) => decoder.decode(value));
    expect(scrapes.length).toBeGreaterThan(10);
    for (const scrape of scrapes) expect(scrape).toMatchObject({ cluster: "fixture" });
    expect(messages.filter(({ topic }) => topic === DEAD_LETTER_TOPIC)).toHaveLength(1);
  });

  it("its facts can be read", () => {
    const facts = messagesOf(version).filter(({ topic }) => FACT_TOPICS.includes(topic));
    // The first release had none yet.
    expect(new Set(facts.map(({ topic }) => topic)).size).toBe(version === "0.1.0" ? 0 : FACT_TOPICS.length);
    for (const { topic, value } of facts) {
      const outcome = readFact({ topic, value, intact: true });
      expect(outcome).toMatchObject({ kind: "ok", value: { row: { cluster: "fixture" } } });
    }
  });

  it("its log can be opened, with every message at its offset", async () => {
    const bus = await openBus(await unpack(version), silent);
    cleanups.push(() => bus.close());
    const reasons: string[] = [];
    for (const { topic, partition, high } of contentOf(version).positions) {
      expect(await bus.watermarks(topic)).toContainEqual(expect.objectContaining({ partition, high }));
      const messages = await bus.read({ topic, partition }, 0, high);
      expect(messages.filter(({ intact }) => !intact)).toEqual([]);
      if (topic === DEAD_LETTER_TOPIC) reasons.push(...messages.map((message) => readDeadLetter(message).reason));
    }
    expect(reasons).toEqual(["not-a-scrape"]);
  });

  it("its store can be opened and migrated with unchanged rows, and new tables take each of its rows by its columns", async () => {
    const { written, fresh } = await openMigrated(version);
    const { migrations: _, ...tables } = contentOf(version).tables;
    for (const [table, { columns, counted, digest }] of Object.entries(tables)) {
      expect(await contentIn(written, table, columns)).toEqual({ table, counted, digest });
      const computed = await computedIn(fresh, table);
      const names = columns.filter((column) => !computed.has(column)).join(", ");
      await fresh.command(`INSERT INTO ${table} (${names}) SELECT ${names} FROM ${written.database}.${table}`);
      expect(await contentIn(fresh, table, columns)).toEqual({ table, counted, digest });
    }
  });
});

describe.each(versionsWithBooks)("the books that version %s closed", (version) => {
  it("can be restored, are unchanged, and have the recorded result of every month", async () => {
    const { books, path, remove } = await unpackBooks(version);
    cleanups.push(remove);
    const migrations = (await loadMigrations(MIGRATIONS_FOLDER)).length;
    for (const { folder, statements } of books) {
      const store = await createTestDatabase(folder.replaceAll("-", "_"));
      cleanups.push(() => store.close());
      const from = join(path, folder);
      await restoreBackup(store, {
        folder: from,
        manifest: await readBackup(from, migrations),
        by: "test",
        now: Date.now,
      });
      const verified = await verifyClosings(store, undefined);
      expect(verified.flatMap(({ deviations }) => deviations)).toEqual([]);
      expect(verified.map(({ period }) => period)).toEqual([
        ...new Set(statements.filter(({ closed }) => closed !== null).map(({ billingPeriod }) => billingPeriod)),
      ]);
      for (const month of statements) {
        const of = { period: readPeriod(month.billingPeriod)!, policy: month.policy, where: [] };
        expect(await readStatements(store, of, month.currency)).toEqual(month);
      }
    }
  });
});
