import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DEAD_LETTER_TOPIC, SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import { readDeadLetter } from "../../processors/ingest/dead-letter.ts";
import type { Processor } from "../../processors/ingest/processor.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { emptyTables } from "../../runtime/store/empty-tables.ts";
import { createTestDatabase } from "../support/database.ts";
import { openTestBus, scrapeMessage, startTestProcessor, type ProcessorLog } from "../support/pipeline.ts";

const AT = Date.UTC(2026, 2, 1, 12);

describe("the processor", () => {
  let store: StoreClient;
  let bus: Bus;
  let closeBus: () => Promise<void>;
  let processor: Processor;
  let log: ProcessorLog;

  beforeAll(async () => {
    store = await createTestDatabase("processor");
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await emptyTables(store);
    ({ bus, close: closeBus } = await openTestBus());
    ({ processor, log } = await startTestProcessor(bus, store));
  });
  afterEach(async () => {
    await processor.stop();
    await closeBus();
  });

  const count = async (table: string): Promise<number> =>
    Number((await store.query<{ n: string }>(`SELECT count() AS n FROM ${table} FINAL`))[0]!.n);
  /** Waits until `scrapes` are stored. A failure that no retry helps appears in the comparison. */
  const stored = (scrapes: number): Promise<void> =>
    expect.poll(() => ({ stored: log.stored, fatal: log.fatal })).toEqual({ stored: scrapes, fatal: [] });

  it("stores a scrape as exact wide rows, with the holder of the exporter's labels", async () => {
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 3, at: AT })]);
    await stored(1);
    const rows = await store.query(
      "SELECT node, gpu_key, gpu, toString(scraped_at) AS at, holder_pod, evidence, activity_ppm, gr_engine_active_ratio, energy_joules, sm_clock_hertz, other FROM gpu_samples ORDER BY gpu",
    );
    expect(rows).toMatchObject([
      {
        node: "a",
        gpu_key: "GPU-a-0",
        at: "2026-03-01 12:00:00.000",
        holder_pod: "train-0",
        evidence: "label",
        activity_ppm: 500_000,
        gr_engine_active_ratio: "0.5",
        energy_joules: "1234.567",
        sm_clock_hertz: null,
        other: { DCGM_FI_DEV_X: 7 },
      },
      { gpu_key: "GPU-a-1", holder_pod: "", evidence: "none", activity_ppm: 1_000_000 },
    ]);
    expect(await store.query("SELECT sequence, devices, failure, interval_ms FROM scrapes")).toEqual([
      { sequence: "3", devices: 2, failure: "", interval_ms: 30_000 },
    ]);
  });

  it("has the same rows after a replay, and after the same scrape twice", async () => {
    const messages = Array.from({ length: 20 }, (_, i) =>
      scrapeMessage({ node: `n${i % 4}`, sequence: i, at: AT + i * 1000 }),
    );
    await bus.send(SAMPLES_TOPIC, messages);
    await bus.send(SAMPLES_TOPIC, messages);
    await stored(40);
    expect([await count("scrapes"), await count("gpu_samples")]).toEqual([20, 40]);
  });

  it("stores a message that is not a scrape as a dead letter with its bytes and the reason, and continues", async () => {
    const poison = { key: "k", value: new Uint8Array([1, 2, 3]), schemaVersion: 1 };
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 0, at: AT }), poison]);
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 1, at: AT + 30_000 })]);
    await stored(2);
    await expect.poll(() => log.deadLetters).toEqual(["not-a-scrape"]);
    const [letter] = await bus.read({ topic: DEAD_LETTER_TOPIC, partition: 0 }, 0, 10);
    const { value, ...parts } = readDeadLetter(letter!);
    expect([...value]).toEqual([1, 2, 3]);
    expect(parts).toMatchObject({
      reason: "not-a-scrape",
      cause: "3 bytes are shorter than a header",
      topic: SAMPLES_TOPIC,
    });
  });

  it("pauses the partition of a message from a newer release, and never makes it a dead letter", async () => {
    const future = { ...scrapeMessage({ node: "a", sequence: 1, at: AT }), schemaVersion: 99 };
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 0, at: AT }), future]);
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 2, at: AT + 60_000 })]);
    await stored(1);
    await expect.poll(() => processor.paused.length).toBe(1);
    expect(log.futures).toBe(1);
    expect(log.deadLetters).toEqual([]);
    const lag = await processor.member.lag();
    expect(lag.reduce((sum, { messages }) => sum + messages, 0)).toBe(2);
  });

  it("stores rows of many days in one insert", async () => {
    const day = 86_400_000;
    const messages = Array.from({ length: 60 }, (_, i) => scrapeMessage({ node: "a", sequence: i, at: AT - i * day }));
    await bus.send(SAMPLES_TOPIC, messages);
    await stored(60);
    expect(await count("gpu_samples")).toBe(120);
  });

  it("continues at its position when another processor follows it", async () => {
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 0, at: AT })]);
    await stored(1);
    await processor.stop();
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 1, at: AT + 30_000 })]);
    ({ processor, log } = await startTestProcessor(bus, store));
    await stored(1);
    expect(await count("scrapes")).toBe(2);
  });
});
