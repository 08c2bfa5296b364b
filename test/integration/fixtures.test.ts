import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { extract } from "tar";
import { afterEach, describe, expect, it } from "vitest";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import {
  CLUSTER_TOPIC,
  DEAD_LETTER_TOPIC,
  INVENTORY_TOPIC,
  SAMPLES_TOPIC,
  WORKLOADS_TOPIC,
} from "../../domain/messages/topics.ts";
import { readDeadLetter } from "../../processors/dead-letter.ts";
import { readFact } from "../../processors/facts.ts";
import { openBus } from "../../runtime/bus/open.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { connectStore, migrateStore } from "../../runtime/store/connection.ts";
import { startEmbeddedStore } from "../../runtime/store/embedded/supervisor.ts";
import { storeProgram } from "../support/embedded-store.ts";
import { silent } from "../support/pipeline.ts";

const FIXTURES = resolve("test/fixtures/versions");
const FACT_TOPICS: readonly string[] = [WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC];
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

interface Expected {
  readonly positions: readonly { readonly topic: string; readonly partition: number; readonly high: number }[];
  readonly tables: Readonly<Record<string, TableContent & { readonly columns: readonly string[] }>>;
}

interface TableContent {
  readonly counted: string;
  readonly digest: string;
}

interface FixtureMessage {
  readonly topic: string;
  readonly value: string;
}

async function readJson<Value>(...path: string[]): Promise<Value> {
  return JSON.parse(await readFile(join(FIXTURES, ...path), "utf8")) as Value;
}

/** The data folder of a version, unpacked into a place of its own, and the configuration that it was written with. */
async function unpack(version: string) {
  const data = await mkdtemp(join(tmpdir(), "gpu-ledger-fixture-"));
  cleanups.push(() => rm(data, { recursive: true, force: true }));
  await extract({ file: join(FIXTURES, version, "data.tar.gz"), cwd: data });
  const text = JSON.stringify({ ...(await readJson<object>(version, "config.json")), data });
  return parseConfig(text, { source: "fixture", folder: data, env: {} });
}

const versions = await readdir(FIXTURES);

it("there is a fixture of at least one version", () => {
  expect(versions).not.toHaveLength(0);
});

describe.each(versions)("what version %s wrote", (version) => {
  it("its messages are read", async () => {
    const lines = (await readFile(join(FIXTURES, version, "messages.jsonl"), "utf8")).trim().split("\n");
    const messages = lines.map((line) => JSON.parse(line) as FixtureMessage);
    const decoder = createScrapeDecoder();
    const scrapes = messages
      .filter(({ topic }) => topic === SAMPLES_TOPIC)
      .map(({ value }) => Buffer.from(value, "base64"))
      .filter((value) => value.toString() !== "no scrape")
      .map((value) => decoder.decode(value));
    expect(scrapes.length).toBeGreaterThan(10);
    for (const scrape of scrapes) expect(scrape).toMatchObject({ cluster: "fixture" });
    expect(messages.filter(({ topic }) => topic === DEAD_LETTER_TOPIC)).toHaveLength(1);
  });

  it("its facts are read", async () => {
    const lines = (await readFile(join(FIXTURES, version, "messages.jsonl"), "utf8")).trim().split("\n");
    const facts = lines
      .map((line) => JSON.parse(line) as FixtureMessage)
      .filter(({ topic }) => FACT_TOPICS.includes(topic));
    // The first release had none yet.
    expect(new Set(facts.map(({ topic }) => topic)).size).toBe(version === "0.1.0" ? 0 : FACT_TOPICS.length);
    for (const { topic, value } of facts) {
      const outcome = readFact({ topic, value: Buffer.from(value, "base64"), intact: true });
      expect(outcome).toMatchObject({ kind: "ok", value: { row: { cluster: "fixture" } } });
    }
  });

  it("its log is opened, with every message at its place", async () => {
    const bus = await openBus(await unpack(version), silent);
    cleanups.push(() => bus.close());
    const { positions } = await readJson<Expected>(version, "expected.json");
    const reasons: string[] = [];
    for (const { topic, partition, high } of positions) {
      expect(await bus.watermarks(topic)).toContainEqual(expect.objectContaining({ partition, high }));
      const messages = await bus.read({ topic, partition }, 0, high);
      expect(messages.filter(({ intact }) => !intact)).toEqual([]);
      if (topic === DEAD_LETTER_TOPIC) reasons.push(...messages.map((message) => readDeadLetter(message).reason));
    }
    expect(reasons).toEqual(["not-a-scrape"]);
  });

  it("its store is opened and migrated, with every row as it was", async () => {
    const config = await unpack(version);
    const store = await startEmbeddedStore({
      folder: join(config.data, "store"),
      program: storeProgram,
      logger: silent,
    });
    cleanups.push(() => store.stop());
    const address = { url: store.url, ...store.internal, database: config.store.database };
    await migrateStore(address, config, silent);
    const client = connectStore(address, config);
    cleanups.push(() => client.close());
    const { tables } = await readJson<Expected>(version, "expected.json");
    for (const [table, { columns, counted, digest }] of Object.entries(tables)) {
      if (table === "migrations") continue;
      const content = await client.query<TableContent>(
        `SELECT count() AS counted, sum(cityHash64(tuple(${columns.map((name) => `\`${name}\``).join(", ")}))) AS digest FROM ${table}`,
      );
      expect({ table, ...content[0] }).toEqual({ table, counted, digest });
    }
  });
});
