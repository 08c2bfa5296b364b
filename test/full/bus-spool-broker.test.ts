import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createKafkaBus } from "../../runtime/bus/kafka/kafka-bus.ts";
import { createSpoolingSender } from "../../runtime/bus/spool.ts";
import { byKey, collector, newTopic, textMessage, textOf } from "../support/bus/messages.ts";
import { prepareKafka, startKafkaBroker } from "../support/kafka-broker.ts";

const LONG = { timeout: 300_000, interval: 50 };
const logger = pino({ level: "silent" });
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe.skipIf(!(await prepareKafka()))("the spooling sender on a real broker", () => {
  it("loses nothing it acknowledged and keeps each key's order while the broker is killed and comes back", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-spool-"));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    const broker = await startKafkaBroker();
    cleanups.push(() => broker.dispose());
    const bus = createKafkaBus({ brokers: [broker.address], clientId: "collector", sendTimeoutMillis: 2_000, logger });
    cleanups.push(() => bus.close());
    const topic = newTopic();
    await bus.declare([topic]);
    const live = collector();
    await bus.consume({ group: "live", topics: [topic.name], handler: live.handler });
    const sender = createSpoolingSender({ bus, topic: topic.name, folder, maxBytes: 100_000_000, logger });
    cleanups.push(() => sender.close());

    let stop = false;
    let count = 0;
    const sending = (async () => {
      while (!stop) {
        await sender.send(Array.from({ length: 10 }, (_, key) => textMessage(`key-${key}`, `${count}`)));
        count += 1;
        await delay(5);
      }
    })();
    for (let round = 0; round < 2; round += 1) {
      await delay(1_000);
      await broker.kill();
      await vi.waitFor(() => expect(sender.stats().queuedMessages).toBeGreaterThan(50), LONG);
      await broker.start();
      const { sent, queuedMessages } = sender.stats();
      await vi.waitFor(() => expect(sender.stats().sent).toBeGreaterThan(sent + queuedMessages), LONG);
    }
    stop = true;
    await sending;
    expect(await sender.drain(30_000)).toBe(true);
    expect(sender.stats()).toMatchObject({ sent: 10 * count, dropped: 0 });

    const seen = collector();
    const follower = await bus.follow(topic.name, seen.onMessages);
    await follower.caughtUp;
    await follower.close();
    const keys = byKey(seen.messages);
    expect(keys.size).toBe(10);
    for (const texts of keys.values()) {
      // A request whose acknowledgement was lost with the broker is sent again: there are repetitions, but never a step back beyond the repetition,
      // and no gap.
      const firsts = texts.map(Number).filter((number, index, all) => all.indexOf(number) === index);
      expect(firsts).toEqual(Array.from({ length: count }, (_, n) => n));
    }
    // The group that read all the time got everything too.
    const placeOf = (message: { partition: number; offset: number }) => `${message.partition}@${message.offset}`;
    const places = new Set(seen.messages.map(placeOf));
    await vi.waitFor(() => expect(new Set(live.messages.map(placeOf))).toEqual(places), LONG);
    expect(live.messages.map(textOf)).not.toContain("");
  });
});
