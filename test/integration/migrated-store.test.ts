import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { beforeEach, describe, expect, it } from "vitest";
import { createStoreClient } from "../../runtime/store/client.ts";
import { packFolder } from "../../runtime/store/embedded/folder-copy.ts";
import { startMigratedStore } from "../../runtime/store/embedded/migrated-store.ts";
import { storeProgram } from "../support/embedded-store.ts";
import { temporaryFolder } from "../support/folder.ts";

const table = (name: string): string =>
  `CREATE TABLE IF NOT EXISTS $DATABASE.${name} (value String) ENGINE = $ENGINE(MergeTree) ORDER BY value;\n`;

let root: string;
let keptIn: string;
let started: number;
beforeEach(() => {
  root = temporaryFolder("migrated-store");
  keptIn = join(root, "kept");
  started = 0;
  mkdirSync(join(root, "migrations"));
  writeFileSync(join(root, "migrations", "0001_words.sql"), table("words"));
  writeFileSync(join(root, "migrations", "0002_names.sql"), table("names"));
});

/** The tables of a store that was started with the test's migrations, which take rows, and the migrations that were applied. */
async function startOne(folder = keptIn): Promise<{ readonly tables: readonly string[]; readonly applied: number }> {
  let applied = 0;
  const log = (line: string): void => void (line.includes("a migration was applied") && (applied += 1));
  const store = await startMigratedStore({
    folder: join(root, `store-${(started += 1)}`),
    program: storeProgram,
    logger: pino({ level: "info" }, { write: log }),
    database: "kept",
    migrations: join(root, "migrations"),
    views: [],
    retentionDays: {},
    keptIn: folder,
  });
  const client = createStoreClient({ url: store.url, ...store.user, database: "kept" });
  try {
    const found = await client.query<{ name: string }>("SELECT name FROM system.tables WHERE database = 'kept'");
    const tables = found.map(({ name }) => name).filter((name) => name !== "migrations");
    for (const name of tables) {
      await client.insertJson(name, [{ value: "x" }]);
      expect(await client.query(`SELECT value FROM ${name}`)).toEqual([{ value: "x" }]);
    }
    return { tables: tables.toSorted(), applied };
  } finally {
    await client.close();
    await store.stop();
  }
}

const MIGRATED = { tables: ["names", "words"], applied: 2 };
const COPIED = { tables: ["names", "words"], applied: 0 };
const copies = (): readonly string[] => readdirSync(keptIn).map((name) => join(keptIn, name));

describe("a store for one command", () => {
  it("is migrated by the first start, and begins with a copy without rows at the next ones", async () => {
    expect(await startOne()).toEqual(MIGRATED);
    expect(copies()).toHaveLength(1);
    expect(await startOne()).toEqual(COPIED);
    expect(await startOne()).toEqual(COPIED);
    expect(copies()).toHaveLength(1);
  });

  it("has the tables of a migration that was added or changed, in a copy of its own", async () => {
    await startOne();
    writeFileSync(join(root, "migrations", "0003_more.sql"), table("more"));
    expect(await startOne()).toEqual({ tables: ["more", "names", "words"], applied: 3 });
    writeFileSync(join(root, "migrations", "0003_more.sql"), table("others"));
    expect(await startOne()).toEqual({ tables: ["names", "others", "words"], applied: 3 });
    expect(await startOne()).toEqual({ tables: ["names", "others", "words"], applied: 0 });
    expect(copies()).toHaveLength(3);
  });

  it("replaces a copy whose bytes have changed, and a copy without the tables", async () => {
    await startOne();
    const [copy] = copies();
    const bytes = readFileSync(copy!);
    for (const broken of [Buffer.alloc(0), bytes.subarray(0, bytes.length / 2)]) {
      writeFileSync(copy!, broken);
      expect(await startOne()).toEqual(MIGRATED);
      expect(await startOne()).toEqual(COPIED);
    }
    packFolder(join(root, "migrations"), copy!, new Set());
    expect(await startOne()).toEqual(MIGRATED);
    expect(await startOne()).toEqual(COPIED);
  });

  it("is the same where two start at once without a copy, and with one", async () => {
    expect(await Promise.all([startOne(), startOne()])).toEqual([MIGRATED, MIGRATED]);
    expect(copies()).toHaveLength(1);
    expect(await Promise.all([startOne(), startOne()])).toEqual([COPIED, COPIED]);
  });

  it("is migrated at every start if the folder of the copy cannot be made", async () => {
    writeFileSync(join(root, "file"), "");
    expect(await startOne(join(root, "file", "kept"))).toEqual(MIGRATED);
    expect(await startOne(join(root, "file", "kept"))).toEqual(MIGRATED);
  });
});
