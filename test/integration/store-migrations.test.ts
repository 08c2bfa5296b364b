import { appendFile, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import pino from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { createStoreClient } from "../../runtime/store/client.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { listPendingMigrations, migrate } from "../../runtime/store/migrate.ts";
import type { MigrateOptions } from "../../runtime/store/migrate.ts";
import { createTestDatabase, migratedDatabase } from "../support/database.ts";
import { run, startTestStore } from "../support/embedded-store.ts";
import type { TestStore } from "../support/embedded-store.ts";
import { httpAnswer, openStoreLine } from "../support/store-line.ts";

const fixtures = join(import.meta.dirname, "fixtures/migrations");

let store: TestStore;
let folder: string;
let database: string;
let databases = 0;

beforeAll(async () => {
  store = await startTestStore();
});

afterAll(async () => {
  await store?.stop();
});

beforeEach(async () => {
  databases += 1;
  database = `ledger_${databases}`;
  folder = await mkdtemp(join(tmpdir(), "gpu-ledger-migrations-"));
  await cp(fixtures, folder, { recursive: true });
  return async () => await rm(folder, { recursive: true, force: true });
});

const connect = (name: string): StoreClient => createStoreClient({ url: store.url, ...store.user, database: name });
const options = (changed: Partial<MigrateOptions> = {}): MigrateOptions => ({
  connect,
  folder,
  views: [],
  database,
  retentionDays: { raw: 40 },
  now: () => Date.UTC(2026, 2, 29, 12),
  logger: pino({ level: "silent" }),
  ...changed,
});

describe("migrating", () => {
  it("creates the database and applies each migration once", async () => {
    const kept = options({ retentionDays: { raw: 0 } });
    expect(await migrate(kept)).toEqual({ applied: ["0001_readings.sql"], total: 1 });
    expect(await migrate(kept)).toEqual({ applied: [], total: 1 });
    await writeFile(join(folder, "0002_more.sql"), "ALTER TABLE readings ADD COLUMN IF NOT EXISTS unit String;");
    expect(await migrate(kept)).toEqual({ applied: ["0002_more.sql"], total: 2 });
    expect(await run(store, `SELECT name, applied_at FROM ${database}.migrations FINAL ORDER BY name`)).toBe(
      "0001_readings.sql\t2026-03-29 12:00:00.000\n0002_more.sql\t2026-03-29 12:00:00.000",
    );
    const client = connect(database);
    await client.insertJson("readings", [
      { sensor: "a", taken_at: "2026-03-29T10:00:00.000Z", value: "1.5", unit: "W" },
    ]);
    expect(await client.query("SELECT * FROM latest_readings")).toEqual([{ sensor: "a", value: "1.5" }]);
    await client.close();
  });

  it("keeps rows as long as configured, or forever", async () => {
    await migrate(options());
    expect(await run(store, `SHOW CREATE TABLE ${database}.readings`)).toMatch(/TTL .*\+ toIntervalDay\(40\)/);
    const forEver = { ...options(), database: `${database}_kept`, retentionDays: { raw: 0 } };
    await migrate(forEver);
    expect(await run(store, `SHOW CREATE TABLE ${database}_kept.readings`)).not.toContain("TTL");
  });

  it("reports its plan, before the database exists and after", async () => {
    const client = connect(database);
    expect(await listPendingMigrations(client, folder)).toEqual(["0001_readings.sql"]);
    await migrate(options());
    expect(await listPendingMigrations(client, folder)).toEqual([]);
    await client.close();
  });

  it("is safe in several processes at once", async () => {
    await writeFile(join(folder, "0002_more.sql"), "ALTER TABLE readings ADD COLUMN IF NOT EXISTS unit String;");
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => migrate(options())));
    expect(new Set(outcomes.flatMap(({ applied }) => applied))).toEqual(
      new Set(["0001_readings.sql", "0002_more.sql"]),
    );
    expect(await run(store, `SELECT count() FROM ${database}.migrations FINAL`)).toBe("2");
  });

  it("makes the views again with the newest migration, which may have added a column", async () => {
    const view = (columns: string) => [`CREATE OR REPLACE VIEW units $ON_CLUSTER AS SELECT ${columns} FROM readings`];
    await migrate(options({ views: view("sensor") }));
    await writeFile(join(folder, "0002_more.sql"), "ALTER TABLE readings ADD COLUMN IF NOT EXISTS unit String;");
    await writeFile(join(folder, "0003_most.sql"), "ALTER TABLE readings ADD COLUMN IF NOT EXISTS size Int8;");
    await migrate(options({ views: view("sensor, unit, size") }));
    expect(await run(store, `DESCRIBE TABLE ${database}.units`)).toMatch(/^sensor\t.*\nunit\t.*\nsize\t/);
  });

  it("continues after a crash in the middle of a file", async () => {
    await migrate(options());
    const half = "CREATE TABLE IF NOT EXISTS a (n Int8) ENGINE = $ENGINE(MergeTree) ORDER BY n;\n";
    await writeFile(join(folder, "0002_two.sql"), `${half}CREATE TABLE IF NOT EXISTS b AS nosuch;`);
    await expect(migrate(options())).rejects.toMatchObject({
      code: "rejected",
      message: expect.stringMatching(/0002_two\.sql/) as string,
    });
    await writeFile(join(folder, "0002_two.sql"), `${half}CREATE TABLE IF NOT EXISTS b AS a ENGINE = Memory;`);
    expect(await migrate(options())).toMatchObject({ applied: ["0002_two.sql"] });
  });
});

describe("migrating is refused with the file's name", () => {
  const mismatch = (message: RegExp) => ({
    code: "migration-mismatch",
    retriable: false,
    message: expect.stringMatching(message) as string,
  });

  it("if a file was changed after it had been applied", async () => {
    await migrate(options());
    await appendFile(join(folder, "0001_readings.sql"), "-- a word too many\n");
    await expect(migrate(options())).rejects.toMatchObject(mismatch(/0001_readings\.sql was changed/));
  });

  it("if the store is ahead of this release", async () => {
    await writeFile(join(folder, "0002_more.sql"), "ALTER TABLE readings ADD COLUMN IF NOT EXISTS unit String;");
    await migrate(options());
    await rm(join(folder, "0002_more.sql"));
    await expect(migrate(options())).rejects.toMatchObject(mismatch(/newer release \(0002_more\.sql\)/));
  });

  it("if a number is missing, repeated or not a number", async () => {
    await writeFile(join(folder, "0003_later.sql"), "SELECT 1;");
    await expect(migrate(options())).rejects.toMatchObject(mismatch(/0003_later\.sql should have the number 2/));
    await rm(join(folder, "0003_later.sql"));
    await writeFile(join(folder, "second.sql"), "SELECT 1;");
    await expect(migrate(options())).rejects.toMatchObject(mismatch(/second\.sql is not named/));
  });

  it.each([
    "CREATE TABLE t (n Int8) ENGINE = Memory;",
    "ALTER TABLE readings ADD COLUMN unit String;",
    "DROP TABLE readings;",
    "ALTER TABLE readings DROP COLUMN note;",
    "INSERT INTO readings (sensor) VALUES ('a');",
  ])("if a statement must not run twice: %s", async (statement) => {
    await writeFile(join(folder, "0002_once.sql"), statement);
    await expect(migrate(options())).rejects.toMatchObject(mismatch(/0002_once\.sql.*may run twice/));
  });

  it("if a placeholder is unknown", async () => {
    await writeFile(join(folder, "0002_typo.sql"), "CREATE TABLE IF NOT EXISTS t (n Int8) ENGINE = $ENGIN(MergeTree);");
    await expect(migrate(options())).rejects.toMatchObject(mismatch(/0002_typo\.sql: \$ENGIN is not a placeholder/));
  });

  it("if the user may only read", async () => {
    const denial = "Code: 497. DB::Exception: reader: Not enough privileges. (ACCESS_DENIED) (version 26.1)";
    const line = await openStoreLine(store);
    line.mode = httpAnswer("403 Forbidden", denial, ["x-clickhouse-exception-code: 497"]);
    const asReader = (name: string) => createStoreClient({ url: line.url, ...store.user, database: name });
    await expect(migrate(options({ connect: asReader }))).rejects.toMatchObject({ code: "denied" });
    await line.close();
  });
});

describe("a database from the tests' template", () => {
  it("has the same tables, views and migrations as a migrated one", async () => {
    const relationsOf = async (client: StoreClient): Promise<readonly unknown[]> => {
      const name = client.database;
      const rows = await client.query<{ sql: string }>(
        `SELECT create_table_query AS sql FROM system.tables WHERE database = '${name}' ORDER BY name`,
      );
      const applied = await client.query("SELECT name, sha256 FROM migrations ORDER BY name");
      await client.close();
      return [...rows.map(({ sql }) => sql.replaceAll(`${name}.`, "")), ...applied];
    };
    const made = await relationsOf(await migratedDatabase(store, "made"));
    expect(made.length).toBeGreaterThan(50);
    expect(await relationsOf(await createTestDatabase("from_template", store))).toEqual(made);
  });
});
