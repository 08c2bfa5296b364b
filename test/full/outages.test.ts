import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DEAD_LETTER_TOPIC, SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import { readDeadLetter } from "../../processors/ingest/dead-letter.ts";
import type { Processor } from "../../processors/ingest/processor.ts";
import type { Bus, OutgoingMessage } from "../../runtime/bus/bus.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { scrapeMessage, silent, startTestProcessor, type ProcessorLog } from "../support/pipeline.ts";
import { httpAnswer, openStoreLine, type LineMode, type StoreLine } from "../support/store-line.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

const AT = Date.UTC(2026, 2, 1, 12);

const BAD_GATEWAY = httpAnswer("502 Bad Gateway", "<html><body><h1>502 Bad Gateway</h1></body></html>");
const OVERLOADED = httpAnswer(
  "500 Internal Server Error",
  "Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 100. (TOO_MANY_SIMULTANEOUS_QUERIES) (version 26.1)",
  ["x-clickhouse-exception-code: 202"],
);
const DENIED = httpAnswer(
  "403 Forbidden",
  "Code: 516. DB::Exception: default: Authentication failed. (AUTHENTICATION_FAILED) (version 26.1)",
  ["x-clickhouse-exception-code: 516"],
);

describe("the processor, through trouble", () => {
  let embedded: TestStore;
  let line: StoreLine;
  /** A client directly to the store, independent of the line. */
  let direct: StoreClient;
  /** The processor's own client, over the line. */
  let store: StoreClient;
  let folder: CommandFolder;
  let bus: Bus;
  /** How far the bus's clock is ahead of the machine's. */
  let aheadMillis = 0;
  const processors: Processor[] = [];
  let databases = 0;

  beforeAll(async () => {
    embedded = await startTestStore();
  });
  afterAll(() => embedded.stop());

  beforeEach(async () => {
    direct = await createTestDatabase(`outages_${(databases += 1)}`, embedded);
    line = await openStoreLine(embedded);
    const { database } = direct;
    store = createStoreClient({ url: line.url, ...embedded.user, database, requestTimeoutMillis: 10_000 });
    folder = createCommandFolder();
    aheadMillis = 0;
    bus = await openEmbeddedBus({
      folder: join(folder.path, "data", "bus"),
      clock: { ...systemClock, nowMillis: () => systemClock.nowMillis() + aheadMillis },
      maintenanceMillis: 100,
      logger: silent,
    });
    const limits = { samplePartitions: 4, retention: DAY_MILLIS, retentionSize: 1e9, spool: 1e9 };
    await bus.declare(topicDeclarations({ kind: "embedded", ...limits }));
  });
  afterEach(async () => {
    line.mode = "pass";
    await Promise.all(processors.splice(0).map((processor) => processor.stop()));
    await bus.close();
    await Promise.all([store.close(), direct.close(), line.close(), folder.dispose()]);
  });

  async function start(options?: { flushRows: number }): Promise<{ processor: Processor; log: ProcessorLog }> {
    const started = await startTestProcessor(bus, store, options);
    processors.push(started.processor);
    return started;
  }

  /** Scrapes of some nodes in turn, numbered from `first`. */
  const scrapes = (count: number, first = 0, nodes = 8): OutgoingMessage[] =>
    Array.from({ length: count }, (_, i) =>
      scrapeMessage({ node: `n${i % nodes}`, sequence: first + i, at: AT + (first + i) * 1000 }),
    );

  /** The stored rows with every copy: scrapes, the number of different ones, and the same for rows of GPUs. */
  async function stored(): Promise<Record<string, number>> {
    const [row] = await direct.query<Record<string, string>>(`
      SELECT (SELECT count() FROM scrapes FINAL) AS scrapes,
        (SELECT uniqExact(sequence) FROM scrapes) AS sequences,
        (SELECT count() FROM gpu_samples FINAL) AS gpus`);
    return Object.fromEntries(Object.entries(row!).map(([name, count]) => [name, Number(count)]));
  }
  const each = (count: number): Record<string, number> => ({ scrapes: count, sequences: count, gpus: 2 * count });

  async function lag(processor: Processor): Promise<number> {
    return (await processor.member.lag()).reduce((sum, { messages }) => sum + messages, 0);
  }

  const settled = (log: ProcessorLog, count: number): Promise<void> =>
    expect
      .poll(() => ({ stored: log.stored, deadLetters: log.deadLetters, fatal: log.fatal }))
      .toEqual({ stored: count, deadLetters: [], fatal: [] });

  it("makes the one scrape that the store rejects a dead letter, stores the others, and stores it too when it is replayed", async () => {
    await direct.command("ALTER TABLE gpu_samples ADD CONSTRAINT no_poison CHECK node != 'poison'");
    const poison = scrapeMessage({ node: "poison", sequence: 99, at: AT });
    await bus.send(SAMPLES_TOPIC, [...scrapes(10), poison, ...scrapes(13, 10)]);
    const { processor, log } = await start();
    await expect.poll(() => [log.stored, log.deadLetters, log.fatal]).toEqual([23, ["rejected-by-store"], []]);
    expect(await lag(processor)).toBe(0);
    expect(log.retries).toEqual([]);
    expect(log.rows).toBe(3 * 23);
    expect(await stored()).toEqual(each(23));

    const [letter] = await bus.read({ topic: DEAD_LETTER_TOPIC, partition: 0 }, 0, 10);
    const { value, reason, cause, key, topic } = readDeadLetter(letter!);
    expect({ reason, key, topic }).toEqual({ reason: "rejected-by-store", key: poison.key, topic: SAMPLES_TOPIC });
    expect(cause).toContain("no_poison");
    expect(Buffer.from(value).equals(poison.value!)).toBe(true);

    await direct.command("ALTER TABLE gpu_samples DROP CONSTRAINT no_poison");
    const config = folder.write("c.yaml", { data: "data" });
    const replayed = await folder.run(["dead-letter", "replay", "0", "--config", config]);
    expect(replayed).toEqual({ code: 0, stdout: "0: sent to gpu.samples again\n", stderr: "" });
    await expect.poll(() => log.stored).toBe(24);
    expect(await stored()).toEqual(each(24));
    expect(log.deadLetters).toHaveLength(1);
  });

  it("holds a bounded number of rows while the store is slow, and stores everything once", async () => {
    const flushRows = 150;
    const total = 800;
    const { processor, log } = await start({ flushRows });
    const waiting: number[] = [];
    const timer = setInterval(() => waiting.push(processor.waiting), 5);

    // An insert without an answer is in flight. The rows that wait behind it fill up, and no more are taken.
    line.mode = "hold";
    await bus.send(SAMPLES_TOPIC, scrapes(40));
    await expect.poll(() => line.parts).toBeGreaterThan(0);
    await bus.send(SAMPLES_TOPIC, scrapes(total - 40, 40));
    await expect.poll(() => processor.waiting).toBeGreaterThanOrEqual(flushRows);
    const full = processor.waiting;
    await delay(500);
    expect([processor.waiting, log.stored]).toEqual([full, 0]);
    expect(await lag(processor)).toBe(total);

    line.delayMillis = 100;
    line.mode = "pass";
    await settled(log, total);
    clearInterval(timer);
    expect(Math.max(...waiting)).toBeLessThan(2 * flushRows);
    expect(log.retries).toEqual([]);
    expect(await stored()).toEqual(each(total));
    await expect.poll(() => lag(processor)).toBe(0);
  });

  it("stores everything once while the store's process is killed and started again", async () => {
    const { processor, log } = await start();
    const restarts = embedded.restarts;
    let sent = 0;
    const send = async (): Promise<void> => {
      await bus.send(SAMPLES_TOPIC, scrapes(20, sent));
      sent += 20;
      await delay(50);
    };
    await send();
    await settled(log, sent);
    process.kill(embedded.processId!, "SIGKILL");
    while (embedded.restarts === restarts) await send();
    for (let more = 0; more < 5; more++) await send();
    await settled(log, sent);
    expect(log.retries.length).toBeGreaterThan(0);
    expect(await stored()).toEqual(each(sent));
    await expect.poll(() => lag(processor)).toBe(0);
  });

  it.each<[string, LineMode]>([
    ["is away", "refuse"],
    ["cuts connections in the middle of an insert", "cut-request"],
    ["cuts connections after an insert, so that its answer is lost", "cut-answer"],
    ["is behind a proxy that answers 502 with a page", BAD_GATEWAY],
    ["answers 500 because it is overloaded", OVERLOADED],
  ])(
    "tries again while the store %s, counts that, and stores everything once without dead letters",
    async (_, mode) => {
      const { processor, log } = await start();
      await bus.send(SAMPLES_TOPIC, scrapes(40));
      await settled(log, 40);
      line.mode = mode;
      await bus.send(SAMPLES_TOPIC, scrapes(40, 40));
      await expect.poll(() => log.retries.length).toBeGreaterThanOrEqual(3);
      await bus.send(SAMPLES_TOPIC, scrapes(40, 80));
      expect(log.stored).toBe(40);
      expect(await lag(processor)).toBe(80);
      line.mode = "pass";
      await settled(log, 120);
      expect(await stored()).toEqual(each(120));
      await expect.poll(() => lag(processor)).toBe(0);
    },
  );

  it("commits nothing more after a batch was given up, so that the next processor stores all of it", async () => {
    const first = await start();
    await bus.send(SAMPLES_TOPIC, scrapes(16));
    await settled(first.log, 16);
    line.mode = DENIED;
    await bus.send(SAMPLES_TOPIC, scrapes(16, 16));
    await expect.poll(() => first.log.fatal).toMatchObject([{ code: "denied", retriable: false }]);
    // The store would accept the next rows now, but their offsets on the bus would also commit the given-up ones.
    line.mode = "pass";
    await bus.send(SAMPLES_TOPIC, scrapes(16, 32));
    await delay(300);
    await first.processor.stop();
    expect(first.log.stored).toBe(16);

    const second = await start();
    await settled(second.log, 32);
    expect(await stored()).toEqual(each(48));
    await expect.poll(() => lag(second.processor)).toBe(0);
  });

  it("stops within 6 s while the store is away, and the next processor gets the rows that were not stored", async () => {
    const first = await start();
    line.mode = "refuse";
    await bus.send(SAMPLES_TOPIC, scrapes(30));
    await expect.poll(() => first.log.retries.length).toBeGreaterThan(0);
    const asked = performance.now();
    await first.processor.stop();
    expect(performance.now() - asked).toBeLessThan(6_000);
    expect([first.log.stored, first.log.fatal]).toEqual([0, []]);

    line.mode = "pass";
    const second = await start();
    await settled(second.log, 30);
    expect(await stored()).toEqual(each(30));
  });

  it("counts exactly the messages that retention removed while no processor ran, and stores the rest", async () => {
    const first = await start();
    await bus.send(SAMPLES_TOPIC, scrapes(20));
    await settled(first.log, 20);
    await first.processor.stop();
    await bus.send(SAMPLES_TOPIC, scrapes(37, 20));

    aheadMillis = DAY_MILLIS + 1000;
    await bus.send(SAMPLES_TOPIC, scrapes(13, 57));
    const kept = async (): Promise<number> =>
      (await bus.watermarks(SAMPLES_TOPIC)).reduce((sum, { low, high }) => sum + high - low, 0);
    await expect.poll(kept).toBe(13);

    const second = await start();
    await settled(second.log, 13);
    const lost = (): number => second.log.jumps.reduce((sum, { from, to }) => sum + to - from, 0);
    await expect.poll(lost).toBe(37);
    expect(await stored()).toEqual(each(33));
    await expect.poll(() => lag(second.processor)).toBe(0);
    // The loss is reported once: a third processor finds nothing missing.
    await second.processor.stop();
    const third = await start();
    await bus.send(SAMPLES_TOPIC, scrapes(16, 70));
    await settled(third.log, 16);
    expect(third.log.jumps).toEqual([]);
  });

  it("stores scrapes of clocks that jump, years back, years ahead and out of order, each once", async () => {
    const year = 365.25 * DAY_MILLIS;
    const times = [0, 1000, -3 * year, 2000, 5 * year, -1000, 1500, -25 * year, 30 * year, 500];
    const messages = times.map((shift, sequence) => scrapeMessage({ node: "a", sequence, at: AT + shift }));
    const { log } = await start();
    await bus.send(SAMPLES_TOPIC, messages);
    await bus.send(SAMPLES_TOPIC, messages.toReversed());
    await settled(log, 20);
    expect(await stored()).toEqual(each(times.length));
    const rows = await direct.query<{ sequence: string; at: string }>(
      "SELECT sequence, toUnixTimestamp64Milli(scraped_at) AS at FROM scrapes FINAL ORDER BY sequence",
    );
    expect(rows.map(({ at }) => Number(at))).toEqual(times.map((shift) => AT + shift));
  });
});
