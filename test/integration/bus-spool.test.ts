import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { BusError } from "../../runtime/bus/bus.ts";
import type { Bus, OutgoingMessage, TopicDeclaration } from "../../runtime/bus/bus.ts";
import { systemClock } from "../../runtime/clock.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { sendLeftSpools, spoolFolder, type Shard } from "../../services/left-spools.ts";
import { SAMPLES_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { createSpoolingSender } from "../../runtime/bus/spool.ts";
import type { DropReason, SpoolOptions, SpoolingSender } from "../../runtime/bus/spool.ts";
import { collector, newTopic, numbered, textMessage } from "../support/bus/messages.ts";

const logger = pino({ level: "silent" });
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-spool-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function newSender(options: Omit<SpoolOptions, "logger" | "maxBytes"> & { maxBytes?: number }): SpoolingSender {
  const sender = createSpoolingSender({ maxBytes: 100_000_000, logger, ...options });
  cleanups.push(() => sender.close());
  return sender;
}

async function textsOf(bus: Bus, topic: string): Promise<string[]> {
  const seen = collector();
  const follower = await bus.follow(topic, seen.onMessages);
  await follower.caughtUp;
  await follower.close();
  return seen.texts();
}

/** A real bus behind a connection that a test can cut or slow down. */
function lineTo(bus: Bus) {
  const line = {
    cut: false,
    delayMillis: 0,
    async send(topic: string, messages: readonly OutgoingMessage[]): Promise<void> {
      if (line.delayMillis > 0) await delay(line.delayMillis);
      if (line.cut) throw new BusError("unavailable", "The line is cut.", { retriable: true });
      await bus.send(topic, messages);
    },
  };
  return line;
}

describe("the spooling sender", () => {
  async function setUp(): Promise<{ bus: Bus; topic: TopicDeclaration; line: ReturnType<typeof lineTo> }> {
    const bus = await openEmbeddedBus({
      folder: newFolder(),
      maxMessageBytes: 100_000,
      clock: systemClock,
      logger,
    });
    cleanups.push(() => bus.close());
    const topic = newTopic({ partitions: 1 });
    await bus.declare([topic]);
    return { bus, topic, line: lineTo(bus) };
  }

  it("passes messages through while the bus answers, and leaves nothing on disk", async () => {
    const { bus, topic, line } = await setUp();
    const sender = newSender({ bus: line, topic: topic.name, folder: newFolder() });
    await Promise.all(numbered(100, 1).map((message) => sender.send([message])));
    expect(await textsOf(bus, topic.name)).toEqual(Array.from({ length: 100 }, (_, n) => `key-0#${n}`));
    expect(sender.stats()).toEqual({ queuedMessages: 0, queuedBytes: 0, sent: 100, dropped: 0, errors: 0 });
  });

  it("keeps the messages of an outage and sends them in the order of the calls, before later messages", async () => {
    const { bus, topic, line } = await setUp();
    const sender = newSender({ bus: line, topic: topic.name, folder: newFolder() });
    const messages = numbered(400, 1);
    const sends: Promise<void>[] = [];
    for (const [index, message] of messages.entries()) {
      if (index === 100) line.cut = true;
      if (index === 300) line.cut = false;
      sends.push(sender.send([message]));
      if (index % 20 === 0) await delay(5);
    }
    await Promise.all(sends);
    expect(await sender.drain(10_000)).toBe(true);
    expect(await textsOf(bus, topic.name)).toEqual(messages.map((_, n) => `key-0#${n}`));
    expect(sender.stats()).toMatchObject({ queuedMessages: 0, sent: 400, dropped: 0 });
    expect(sender.stats().errors).toBeGreaterThan(0);
  });

  it("drops the oldest messages beyond its limit and counts them", async () => {
    const { bus, topic, line } = await setUp();
    line.cut = true;
    const drops: [number, DropReason][] = [];
    const sender = newSender({
      bus: line,
      topic: topic.name,
      folder: newFolder(),
      maxBytes: 100_000,
      onDropped: (count, reason) => void drops.push([count, reason]),
    });
    const value = (n: number) => `${n}`.padEnd(1_000, ".");
    for (let n = 0; n < 200; n += 1) await sender.send([textMessage("k", value(n))]);
    expect(sender.stats().queuedBytes).toBeLessThanOrEqual(100_000);
    const { dropped } = sender.stats();
    expect(dropped).toBeGreaterThan(100);
    expect(drops.reduce((sum, [count]) => sum + count, 0)).toBe(dropped);
    expect(new Set(drops.map(([, reason]) => reason))).toEqual(new Set(["spool-full"]));

    line.cut = false;
    expect(await sender.drain(10_000)).toBe(true);
    const arrived = (await textsOf(bus, topic.name)).map((text) => Number.parseInt(text, 10));
    expect(arrived).toHaveLength(200 - dropped);
    expect(arrived.at(-1)).toBe(199);
    expect(arrived).toEqual(arrived.toSorted((a, b) => a - b));
    // Messages in transit to the bus are kept while space is made. The next oldest are dropped.
    expect(arrived.filter((n, index) => index > 0 && n !== arrived[index - 1]! + 1).length).toBeLessThanOrEqual(1);
  });

  it("moves waiting messages to the disk if the bus is slow, so that memory stays bounded", async () => {
    const { bus, topic, line } = await setUp();
    line.delayMillis = 300;
    const maxMemoryBytes = 1_200_000;
    const sender = newSender({ bus: line, topic: topic.name, folder: newFolder(), maxMemoryBytes });
    const sends = numbered(100, 1).map(({ key, value }) =>
      sender.send([textMessage(key, String(value).padEnd(20_000))]),
    );
    // All are durable long before the bus, at a request per 300 ms, can have taken them.
    await Promise.all(sends.slice(50));
    expect(sender.stats().queuedMessages).toBeGreaterThan(0);
    await Promise.all(sends);
    expect(await sender.drain(10_000)).toBe(true);
    const texts = (await textsOf(bus, topic.name)).map((text) => text.trim());
    expect(texts).toEqual(numbered(100, 1).map(({ value }) => String(value)));
  });

  it("refuses a message that is too large for the bus, drops it if it was spooled, and sends the others", async () => {
    const { bus, topic, line } = await setUp();
    const drops: [number, DropReason][] = [];
    const sender = newSender({
      bus: line,
      topic: topic.name,
      folder: newFolder(),
      onDropped: (count, reason) => void drops.push([count, reason]),
    });
    const large = textMessage("k", "x".repeat(150_000));
    const results = await Promise.allSettled(
      [textMessage("k", "1"), large, textMessage("k", "2")].map((m) => sender.send([m])),
    );
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);

    line.cut = true;
    for (const message of [textMessage("k", "3"), large, textMessage("k", "4")]) await sender.send([message]);
    line.cut = false;
    expect(await sender.drain(10_000)).toBe(true);
    expect(drops).toEqual([[1, "too-large"]]);
    expect(await textsOf(bus, topic.name)).toEqual(["1", "2", "3", "4"]);
  });

  it("sends the spooled messages of a killed process, every one that was acknowledged as durable, in order", async () => {
    const { bus, topic, line } = await setUp();
    const folder = newFolder();
    let durable = -1;
    for (let round = 0; round < 3; round += 1) {
      const script = new URL("../support/bus/child-spooler.mjs", import.meta.url).pathname;
      const child = spawn(process.execPath, [script, JSON.stringify({ folder, from: durable + 1 })], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const closed = new Promise((resolve) => child.once("close", resolve));
      const lines = createInterface({ input: child.stdout });
      lines.on("line", (line_) => (durable = Number(line_)));
      await new Promise((resolve) => lines.once("line", resolve));
      await delay(50 + Math.random() * 200);
      child.kill("SIGKILL");
      await closed;
    }
    expect(durable).toBeGreaterThan(20);

    const sender = newSender({ bus: line, topic: topic.name, folder });
    expect(await sender.drain(10_000)).toBe(true);
    const numbers = (await textsOf(bus, topic.name)).map(Number);
    // In each round one message more than acknowledged may be stored. The next round sends it again.
    expect([...new Set(numbers)]).toEqual(Array.from({ length: Math.max(...numbers) + 1 }, (_, n) => n));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(Math.max(...numbers)).toBeGreaterThanOrEqual(durable);
  });

  it("writes its memory to the disk when it is closed in an outage, and sends it when it is opened again", async () => {
    const { bus, topic, line } = await setUp();
    const folder = newFolder();
    line.cut = true;
    const first = createSpoolingSender({ bus: line, topic: topic.name, folder, maxBytes: 1_000_000, logger });
    const sends = numbered(50, 1).map((message) => first.send([message]));
    await first.close();
    await Promise.all(sends);
    await expect(first.send([textMessage("k", "v")])).rejects.toMatchObject({ code: "closed" });

    line.cut = false;
    const second = newSender({ bus: line, topic: topic.name, folder });
    await second.send([textMessage("key-0", "last")]);
    expect(await second.drain(10_000)).toBe(true);
    expect(await textsOf(bus, topic.name)).toEqual([...numbered(50, 1).map(({ value }) => String(value)), "last"]);
  });
});

describe("the spool of another number of collectors", () => {
  it("is sent by the collector to whose shard it belongs now, to its own topic, and kept while the bus is away", async () => {
    const bus = await openEmbeddedBus({ folder: newFolder(), clock: systemClock, logger });
    cleanups.push(() => bus.close());
    const topics = [SAMPLES_TOPIC, WORKLOADS_TOPIC].map((name) => ({ ...newTopic({ partitions: 1 }), name }));
    await bus.declare(topics);
    const data = newFolder();
    const away = lineTo(bus);
    away.cut = true;
    const leave = async (shard: Shard, topic: string): Promise<void> => {
      const folder = spoolFolder(data, shard, topic);
      const left = newSender({ bus: { send: () => Promise.reject(new Error("away")) }, topic, folder });
      await left.send([textMessage("k", `${topic} of ${shard.index}`)]);
      await left.close();
    };
    await leave({ index: 1, count: 4 }, SAMPLES_TOPIC);
    await leave({ index: 3, count: 4 }, WORKLOADS_TOPIC);
    await leave({ index: 2, count: 4 }, SAMPLES_TOPIC);
    await leave({ index: 1, count: 2 }, SAMPLES_TOPIC);

    const options = { data, shard: { index: 1, count: 2 }, maxBytes: 1e8, onDropped: () => {}, logger };
    const cut = sendLeftSpools({ ...options, bus: away });
    await delay(100);
    await cut.stop();
    const sending = sendLeftSpools({ ...options, bus });
    cleanups.push(() => sending.stop());
    await expect.poll(() => textsOf(bus, SAMPLES_TOPIC)).toEqual([`${SAMPLES_TOPIC} of 1`]);
    await expect.poll(() => textsOf(bus, WORKLOADS_TOPIC)).toEqual([`${WORKLOADS_TOPIC} of 3`]);
    await sending.stop();
    const again = sendLeftSpools({ ...options, bus });
    cleanups.push(() => again.stop());
    await delay(100);
    expect(await textsOf(bus, SAMPLES_TOPIC)).toEqual([`${SAMPLES_TOPIC} of 1`]);
  });
});
