import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SystemStatus } from "../../services/system.ts";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import {
  encodeClusterFact,
  encodeInventory,
  encodeWorkload,
  FACT_SCHEMA_VERSION,
} from "../../domain/messages/fact-message.ts";
import { encodeScrape, encodeStable, SCRAPE_SCHEMA_VERSION } from "../../domain/messages/scrape-message.ts";
import {
  CLUSTER_TOPIC,
  DEAD_LETTER_TOPIC,
  INVENTORY_TOPIC,
  PROCESSOR_GROUP,
  SAMPLES_TOPIC,
  WORKLOADS_TOPIC,
} from "../../domain/messages/topics.ts";
import type { ScrapeFailure } from "../../domain/scrape.ts";
import { insertScrapes, rowsOf } from "../../processors/ingest/batch.ts";
import { createHoldings } from "../../processors/ingest/holdings/holdings.ts";
import { startIntake, type Intake } from "../../processors/ingest/intake.ts";
import { createSamplePipeline } from "../../processors/ingest/pipeline.ts";
import { createScrapeRowWriter } from "../../processors/ingest/scrape-rows.ts";
import type { Bus, OutgoingMessage } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { MIGRATIONS_FOLDER } from "../../runtime/store/connection.ts";
import { createCommandFolder, getJson } from "../support/command.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { run, startTestStore, type TestStore } from "../support/embedded-store.ts";
import { startExporterDouble } from "../support/exporter-double.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../support/facts.ts";
import { asNewer } from "../support/newer-collector.ts";
import { createTestDatabase } from "../support/database.ts";
import {
  emptyLog,
  loggedEvents,
  openTestBus,
  scrapeMessage,
  startTestFacts,
  startTestProcessor,
  type ProcessorLog,
} from "../support/pipeline.ts";
import { billWords, playScenario, scenarioFiles } from "../support/play-ledger.ts";
import type { PlacedMessage } from "../support/play.ts";
import {
  configurationOf,
  contentOf,
  insertsOf,
  messagesOf,
  repeatInsert,
  unpackVersion,
  versions,
} from "../support/versions.ts";

/** The names of this release's migrations, in their order. */
const MIGRATIONS = readdirSync(MIGRATIONS_FOLDER).toSorted();

let embedded: TestStore;
let bus: Bus;
let databases = 0;
const cleanups: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  embedded = await startTestStore();
});
afterAll(() => embedded.stop());
beforeEach(async () => {
  // The same number of partitions of samples as in the fixtures.
  const opened = await openTestBus({ samplePartitions: 2 });
  bus = opened.bus;
  cleanups.push(opened.close);
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** The empty tables of this release. */
async function openTables(): Promise<StoreClient> {
  const store = await createTestDatabase(`upgrades_${(databases += 1)}`, embedded);
  cleanups.push(() => store.close());
  return store;
}

/** A processor of this release; it reads facts to their ends before its first sample. */
async function startProcessing(store: StoreClient) {
  const { facts, log: factsLog } = await startTestFacts(bus, store);
  cleanups.push(() => facts.stop());
  const { processor, log } = await startTestProcessor(bus, store);
  cleanups.push(() => processor.stop());
  return { facts, factsLog, processor, log };
}

/** Messages that are on the bus and not yet stored. */
async function waiting({ member }: Intake): Promise<number> {
  return (await member.lag()).reduce((sum, { messages }) => sum + messages, 0);
}

/** Waits until `messages` messages are stored. */
const untilStored = (log: ProcessorLog, messages: number): Promise<void> =>
  expect.poll(() => log.stored).toBe(messages);

/** A failed scrape with a reason that this release may not have. */
function failedScrape(reason: string): OutgoingMessage {
  const origin = { cluster: "test", node: "gpu-a", target: "http://gpu-a:9400/metrics", collector: "c-0" };
  const stable = encodeStable(origin, { exporter: "dcgm-exporter", columns: [], devices: [] });
  const moment = { epoch: 1, sequence: 1, scrapedAtMillis: NOON + 30_000, intervalMillis: 30_000, durationMicros: 900 };
  const failure = { reason: reason as ScrapeFailure, detail: "" };
  return {
    key: JSON.stringify(["test", "gpu-a"]),
    value: encodeScrape(stable, { ...moment, failure, dropped: {} }, new Float64Array(0)),
    schemaVersion: SCRAPE_SCHEMA_VERSION,
  };
}

describe.each(versions)("beside version %s", (version) => {
  /** The columns of its processors, by table. */
  const columnsOf = new Map(
    insertsOf(version).map((insert) => [
      insert.table,
      "rows" in insert ? Object.keys(insert.rows[0]!) : insert.columns,
    ]),
  );

  async function rowsOfTables(store: StoreClient): Promise<Readonly<Record<string, readonly object[]>>> {
    const tables = [...columnsOf].map(async ([table, columns]) => [
      table,
      await store.query<object>(`SELECT ${columns.join(", ")} FROM ${table} FINAL ORDER BY ALL`),
    ]);
    return Object.fromEntries(await Promise.all(tables)) as Record<string, readonly object[]>;
  }

  it("processors of today make the same rows of its messages as its own processors, and tables of today take these", async () => {
    const [theirs, ours] = [await openTables(), await openTables()];
    for (const insert of insertsOf(version)) await repeatInsert(embedded, theirs, insert);
    const messages = messagesOf(version).filter(({ topic }) => topic !== DEAD_LETTER_TOPIC);
    for (const { topic, ...message } of messages) await bus.send(topic, [message]);
    const { log, factsLog } = await startProcessing(ours);
    const samples = messages.filter(({ topic }) => topic === SAMPLES_TOPIC);
    // A fixture's log has an invalid message. Whether it is among the kept ones depends on when it was sent.
    const poison = samples.filter(({ value }) => Buffer.from(value).toString() === "no scrape");
    await untilStored(log, samples.length - poison.length);
    await untilStored(factsLog, messages.length - samples.length);
    await expect.poll(() => log.deadLetters).toEqual(poison.map(() => "not-a-scrape"));
    expect([log.passedOver, factsLog.deadLetters]).toEqual([[], []]);
    const rows = await rowsOfTables(theirs);
    expect(rows["gpu_samples"]!.length).toBeGreaterThan(50);
    expect(await rowsOfTables(ours)).toEqual(rows);
  });

  it("today's up opens its data folder, alters its tables, stores its whole log, and continues", async () => {
    const { config, remove } = await unpackVersion(version);
    cleanups.push(remove);
    const folder = createCommandFolder();
    cleanups.push(() => folder.dispose());
    const page = dcgmPage({ gpus: 2, host: "gpu-node-7", families: ["DCGM_FI_DEV_GPU_UTIL"], value: () => "50" });
    const exporter = await startExporterDouble((_request, response, double) => double.page(response, page));
    cleanups.push(() => exporter.close());
    const collector = {
      name: "new",
      interval: "3s",
      timeout: "1s",
      jobs: [{ name: "gpus", targets: [exporter.url] }],
    };
    const file = folder.write("up.yaml", configurationOf(version, { data: config.data, collector }));
    const up = folder.start(["up", "--config", file]);
    const address = await up.address();
    // The second page is served when the first has been sent.
    await expect.poll(() => exporter.served.length).toBeGreaterThan(1);
    const lag = async () => (await getJson<SystemStatus>(`${address}/api/status`)).processor?.lagMessages;
    await expect.poll(lag).toBe(0);
    expect(await up.end("SIGTERM")).toMatchObject({ code: 0 });

    const store = await startTestStore({ folder: join(config.data, "store") });
    cleanups.push(() => store.stop());
    const ask = (sql: string): Promise<string> => run(store, sql.replaceAll("FROM ", `FROM ${config.store.database}.`));
    const { positions } = contentOf(version);
    const sent = positions.filter(({ topic }) => topic === SAMPLES_TOPIC).reduce((sum, { high }) => sum + high, 0);
    const deadLetterCount = positions.find(({ topic }) => topic === DEAD_LETTER_TOPIC)!.high;
    expect(await ask("SELECT count() FROM scrapes FINAL WHERE collector != 'new'")).toBe(
      String(sent - deadLetterCount),
    );
    expect(Number(await ask("SELECT count() FROM gpu_samples WHERE hostname = 'gpu-node-7'"))).toBeGreaterThan(1);
    expect(await ask("SELECT name FROM migrations ORDER BY name")).toBe(MIGRATIONS.join("\n"));
  });
});

describe("a collector of a later release", () => {
  const { scenario } = scenarioFiles().find(({ file }) => file === "whole-gpu.yaml")!;

  it("changes no bill with messages that have unknown fields and metrics", async () => {
    const deliver = (messages: readonly PlacedMessage[]) => ({
      first: [messages.map((message) => ({ ...message, value: asNewer(message.topic, message.value) }))],
      late: [],
    });
    const newer = await playScenario(await openTables(), scenario, { deliver });
    const { bills, usage } = await playScenario(await openTables(), scenario);
    expect(billWords(bills).length).toBeGreaterThan(3);
    expect(billWords(newer.bills)).toEqual(billWords(bills));
    expect(newer.usage).toEqual(usage);
  });

  it("is read: unknown metrics and kinds are stored unchanged, and known ones are joined and stored", async () => {
    const store = await openTables();
    const send = (topic: string, { value, ...message }: OutgoingMessage) =>
      bus.send(topic, [{ ...message, value: asNewer(topic, value!) }]);
    await send(WORKLOADS_TOPIC, encodeWorkload(workloadFact()));
    await send(INVENTORY_TOPIC, encodeInventory(inventoryFact()));
    await send(CLUSTER_TOPIC, encodeClusterFact(namespaceFact()));
    const fabric = { ...namespaceFact({ uid: "fabric-1" }), kind: "Fabric", body: { domains: 4 } };
    await bus.send(CLUSTER_TOPIC, [encodeClusterFact(fabric as unknown as ClusterFact)]);
    const { factsLog, log } = await startProcessing(store);
    await send(SAMPLES_TOPIC, scrapeMessage({ node: "gpu-a", sequence: 0, at: NOON }));
    await send(SAMPLES_TOPIC, failedScrape("quarantined"));
    await untilStored(log, 2);
    await untilStored(factsLog, 4);
    expect([log.deadLetters, log.passedOver, log.futures, factsLog.deadLetters]).toEqual([[], [], 0, []]);
    expect(await store.query("SELECT gpu, holder_uid, activity_ppm, other FROM gpu_samples ORDER BY gpu")).toEqual([
      { gpu: "0", holder_uid: "pod-1", activity_ppm: 500_000, other: { DCGM_FI_DEV_X: 7, fabric_links: 18 } },
      { gpu: "1", holder_uid: "", activity_ppm: 1_000_000, other: { DCGM_FI_DEV_X: 7, fabric_links: 18 } },
    ]);
    expect(await store.query("SELECT devices, failure FROM scrapes ORDER BY sequence")).toEqual([
      { devices: 2, failure: "" },
      { devices: 0, failure: "quarantined" },
    ]);
    expect(
      await store.query(
        "SELECT kind, JSONExtractInt(fact, 'body', 'domains') AS domains FROM cluster_facts ORDER BY kind",
      ),
    ).toEqual([
      { kind: "Fabric", domains: "4" },
      { kind: "Namespace", domains: "0" },
    ]);
  });

  it("with facts of a newer schema is waited for: their partitions stop, others and the samples continue", async () => {
    const store = await openTables();
    const { facts, factsLog, log } = await startProcessing(store);
    const future = {
      ...encodeWorkload(workloadFact({ resourceVersion: "101" })),
      schemaVersion: FACT_SCHEMA_VERSION + 1,
    };
    await bus.send(WORKLOADS_TOPIC, [encodeWorkload(workloadFact()), future]);
    await bus.send(WORKLOADS_TOPIC, [encodeWorkload(workloadFact({ resourceVersion: "102" }))]);
    await bus.send(INVENTORY_TOPIC, [encodeInventory(inventoryFact())]);
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "gpu-a", sequence: 0, at: NOON })]);
    await untilStored(log, 1);
    await untilStored(factsLog, 2);
    expect([facts.paused.length, await waiting(facts), factsLog.deadLetters]).toEqual([1, 2, []]);
    expect(log.passedOver).toEqual(["future-schema"]);
  });

  it("with scrapes of a newer schema is waited for, and a processor with that schema continues where the other stopped", async () => {
    const store = await openTables();
    const old = await startProcessing(store);
    const scrape = (sequence: number) => scrapeMessage({ node: "gpu-a", sequence, at: NOON + sequence * 30_000 });
    await bus.send(SAMPLES_TOPIC, [scrape(0), { ...scrape(1), schemaVersion: SCRAPE_SCHEMA_VERSION + 1 }, scrape(2)]);
    await expect.poll(() => [old.processor.paused.length, old.log.stored]).toEqual([1, 1]);
    expect(await waiting(old.processor)).toBe(2);

    const log = emptyLog();
    await startUpgraded(store, log);
    await old.processor.stop();
    await untilStored(log, 2);
    expect(await store.query("SELECT sequence FROM scrapes ORDER BY sequence")).toEqual([
      { sequence: "0" },
      { sequence: "1" },
      { sequence: "2" },
    ]);
    expect([log.futures, log.deadLetters, old.log.deadLetters]).toEqual([0, [], []]);
  });

  /** A processor of a release with the next schema of scrapes; its bytes are those of today's. */
  async function startUpgraded(store: StoreClient, log: ProcessorLog): Promise<void> {
    const writer = createScrapeRowWriter();
    const intake = await startIntake({
      bus,
      group: PROCESSOR_GROUP,
      topics: [SAMPLES_TOPIC],
      schemaVersion: SCRAPE_SCHEMA_VERSION + 1,
      pipeline: createSamplePipeline(createHoldings()),
      rowsOf,
      insert: (items) => insertScrapes(store, writer, items),
      flushMillis: 50,
      flushRows: 500,
      events: { ...loggedEvents(log), onStored: (items) => (log.stored += items.length) },
      now: Date.now,
    });
    cleanups.push(() => intake.stop());
  }
});
