import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBooks } from "../support/books.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";

/** Two hours of two GPUs at 3 an hour, one of them held by vision. */
const fleet = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [{ name: "gpu-a", model: "A100", gpus: 2, instanceType: "p5", until: "2026-04-01T00:00:00Z" }],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
});

const APRIL_3 = Date.UTC(2026, 3, 3);

describe("the commands backup and restore", () => {
  let store: TestStore;
  let folder: CommandFolder;

  /** A configuration with a database of the running store. */
  const outside = (database: string): string =>
    folder.write(`${database}.json`, {
      store: { kind: "clickhouse", database, clickhouse: { url: store.url, ...store.user } },
    });

  beforeAll(async () => {
    store = await startTestStore();
    folder = createCommandFolder();
    const client = await createTestDatabase("books", store);
    const books = openBooks(client, fleet);
    await books.arrive(fleet);
    await books.settle(APRIL_3);
    await books.close("2026-03", APRIL_3);
    await client.close();
  });
  afterAll(async () => {
    await folder.dispose();
    await store.stop();
  });

  it("write a folder, fill another database from it, and verify the closed books", async () => {
    const config = outside("books");
    const written = await folder.call(["backup", "--out", "one", "--config", config]);
    expect(written).toMatchObject({ code: 0, stderr: "" });
    expect(written.stdout).toMatch(/^one: backup of \S+Z, \d+ rows in \d+ files, 0\.0 MB\n$/);
    expect(await folder.call(["backup", "--out", "one", "--config", config])).toMatchObject({
      code: 1,
      stderr: "gpu-ledger: one already has files: give a backup an empty folder of its own\n",
    });
    const other = outside("other");
    const restored = await folder.call(["restore", "--from", "one", "--by", "operations", "--config", other]);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.stdout).toMatch(
      /^restored: backup of .*\n2026-03, closed by finance at \S+: 12 USD, 2 statements, 4 lines: as it was closed \(\w+\)\n$/,
    );
    const verify = (file: string) => folder.call(["verify", "--config", file]);
    expect(await verify(other)).toEqual(await verify(config));
    const statement = (file: string) => folder.call(["statement", "2026-03", "--format", "json", "--config", file]);
    expect(await statement(other)).toEqual(await statement(config));
    expect((await folder.call(["audit", "--config", other])).stdout).toMatch(/operations +restored +backup of /);
    expect(await folder.call(["restore", "--from", "one", "--config", other])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the store already has rows in ") as string,
    });
  });

  it("fill an embedded store that no process holds", async () => {
    await folder.call(["backup", "--out", "two", "--config", outside("books")]);
    const config = folder.write("embedded.json", { data: "data" });
    const restored = await folder.call(["restore", "--from", "two", "--config", config]);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.stdout).toContain("12 USD, 2 statements, 4 lines: as it was closed");
    const held = await startTestStore({ folder: join(folder.path, "data", "store") });
    const again = await folder.call(["restore", "--from", "two", "--config", config]);
    await held.stop();
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /the store of .*data is in use: stop `gpu-ledger up`, and restore into a new folder\n$/,
      ) as string,
    });
  });

  it("require a folder, and one that is a backup", async () => {
    const config = outside("books");
    expect(await folder.call(["backup", "--config", config])).toMatchObject({ code: 2 });
    expect(await folder.call(["restore", "--config", config])).toMatchObject({ code: 2 });
    expect(await folder.call(["restore", "--from", "none", "--config", config])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "none has no manifest.json: the folder is not a backup, or the backup is not complete",
      ) as string,
    });
  });
});
