import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Bus } from "../../runtime/bus/bus.ts";
import { createKafkaBus } from "../../runtime/bus/kafka/kafka-bus.ts";
import type { KafkaBusOptions } from "../../runtime/bus/kafka/options.ts";
import { prepareKafka, startKafkaBroker } from "../support/kafka-broker.ts";
import type { KafkaBroker } from "../support/kafka-broker.ts";
import { collector, newTopic, numbered, textMessage, textOf } from "../support/bus/messages.ts";

const LONG = { timeout: 90_000, interval: 50 };

describe.skipIf(!(await prepareKafka()))("the Kafka bus, beyond the contract", () => {
  let broker: KafkaBroker | undefined;
  const buses: Bus[] = [];

  beforeAll(async () => {
    broker = await startKafkaBroker({ secure: true });
  });
  afterAll(async () => {
    await Promise.all(buses.map((bus) => bus.close()));
    await broker?.dispose();
  });

  function newBus(options: Partial<KafkaBusOptions> = {}): Bus {
    const bus = createKafkaBus({
      brokers: [broker?.address ?? ""],
      clientId: randomUUID(),
      sessionTimeoutMillis: 3_000,
      logger: pino({ level: "silent" }),
      ...options,
    });
    buses.push(bus);
    return bus;
  }

  function secure(): Pick<KafkaBusOptions, "brokers" | "tls"> {
    return { brokers: [broker?.secure?.address ?? ""], tls: { ca: broker?.secure?.certificate ?? "" } };
  }

  it.each(["none", "gzip", "lz4"] as const)(
    "sends messages with compression %s that any consumer can read",
    async (compression) => {
      const bus = newBus({ compression });
      const topic = newTopic({ partitions: 1 });
      await bus.declare([topic]);
      const text = "gpu=0 ".repeat(50_000);
      await bus.send(topic.name, [textMessage("k", text), ...numbered(100, 1)]);
      // A new broker refuses its first group while its coordinator loads. The error is unavailable, and a retry can help.
      const read = () => newBus().read({ topic: topic.name, partition: 0 }, 0, 101);
      const messages = await vi.waitFor(read, { timeout: 20_000, interval: 500 });
      expect(messages).toHaveLength(101);
      expect(messages.every(({ intact }) => intact)).toBe(true);
      expect(messages[0] && textOf(messages[0])).toBe(text);
    },
  );

  it("sends a call that is larger than a batch in its order", async () => {
    const bus = newBus({ maxMessageBytes: 200_000, compression: "none" });
    const topic = newTopic({ partitions: 1 });
    await bus.declare([topic]);
    const messages = Array.from({ length: 30 }, (_, n) => textMessage("k", `${n}`.padEnd(50_000)));
    await bus.send(topic.name, messages);
    const read = await bus.read({ topic: topic.name, partition: 0 }, 0, 30);
    expect(read.map((message) => textOf(message).trim())).toEqual(messages.map((_, n) => `${n}`));
  });

  it("halves a batch that a topic's own limit refuses, and refuses a single message that is too large", async () => {
    const topic = newTopic({ partitions: 1 });
    await newBus({ maxMessageBytes: 100_000 }).declare([topic]);
    const bus = newBus({ maxMessageBytes: 1_000_000, compression: "none" });
    const fitting = Array.from({ length: 12 }, (_, n) => textMessage("k", `${n}`.padEnd(40_000)));
    await bus.send(topic.name, fitting);
    const large = bus.send(topic.name, [textMessage("k", "x".repeat(300_000))]);
    const small = bus.send(topic.name, [textMessage("k", "small")]);
    await expect(large).rejects.toMatchObject({ code: "too-large", retriable: false });
    await small;
    const read = await bus.read({ topic: topic.name, partition: 0 }, 0, 20);
    expect(read.map((message) => textOf(message).trim())).toEqual([...fitting.map((_, n) => `${n}`), "small"]);
  });

  it.each(["plain", "scram-sha-256", "scram-sha-512"] as const)("logs in over TLS with %s", async (mechanism) => {
    const sasl = { mechanism, username: "ledger", password: "right" };
    const bus = newBus({ ...secure(), sasl });
    const topic = newTopic({ partitions: 1 });
    await bus.declare([topic]);
    await bus.send(topic.name, [textMessage("k", "v")]);
    expect(await bus.watermarks(topic.name)).toMatchObject([{ high: 1 }]);
  });

  it("fails with denied for a wrong password, and with unavailable for an untrusted certificate", async () => {
    const wrong = { mechanism: "scram-sha-512", username: "ledger", password: "wrong" } as const;
    const denied = newBus({ ...secure(), sasl: wrong });
    await expect(denied.watermarks("t")).rejects.toMatchObject({ code: "denied", retriable: false });
    const untrusting = newBus({ ...secure(), tls: {}, sasl: { ...wrong, password: "right" } });
    await expect(untrusting.watermarks("t")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("fails with the retriable error `unavailable` if no broker listens", { timeout: 60_000 }, async () => {
    const bus = newBus({ brokers: ["127.0.0.1:1"], sendTimeoutMillis: 1_000 });
    const failure = { name: "BusError", code: "unavailable", retriable: true };
    const { handler, onMessages } = collector();
    const attempts = [
      bus.declare([newTopic()]),
      bus.send("t", [textMessage("k", "v")]),
      bus.consume({ group: "g", topics: ["t"], handler }),
      bus.follow("t", onMessages),
      bus.watermarks("t"),
    ];
    for (const attempt of await Promise.allSettled(attempts)) {
      expect(attempt).toMatchObject({ status: "rejected", reason: failure });
    }
  });

  it("reads a partition far ahead of its handler without keeping it all in memory", async () => {
    const bus = newBus();
    const topic = newTopic({ partitions: 1 });
    await bus.declare([topic]);
    // Random values, because compressed messages are fetched at their compressed size.
    for (let n = 0; n < 20; n += 1) {
      await bus.send(topic.name, [{ key: "k", value: randomBytes(500_000), schemaVersion: 1 }]);
    }
    const order: number[] = [];
    const pageSizes: number[] = [];
    const member = await bus.consume({
      group: topic.name,
      topics: [topic.name],
      handler: {
        async onMessages(messages) {
          pageSizes.push(messages.length);
          order.push(...messages.map((message) => message.offset));
          await new Promise((resolve) => setTimeout(resolve, 50));
        },
      },
    });
    await vi.waitFor(() => expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n)), LONG);
    // A page has the messages that were fetched in advance: two megabytes, and the fetch that exceeded them.
    expect(Math.max(...pageSizes)).toBeLessThan(10);
    await member.close();
  });
});
