import { describe, expect, it, vi } from "vitest";
import type { Bus } from "../../../runtime/bus/bus.ts";
import { partitionOf } from "../../../runtime/bus/partitioner.ts";
import type { BusMake } from "./make.ts";
import { byKey, collector, newTopic, numbered, textMessage, textOf } from "./messages.ts";

/** The contract for the messages of a bus: what it keeps, refuses and returns. */
export function describeKeeping(make: () => BusMake, bus: () => Bus): void {
  describe("keeping messages", () => {
    it("the bus still has every acknowledged message after it was closed and opened again", async () => {
      const topic = newTopic();
      const first = await make().open();
      await first.declare([topic]);
      await first.send(topic.name, numbered(100, 10));
      await first.close();

      const seen = collector();
      const follower = await bus().follow(topic.name, seen.onMessages);
      await follower.caughtUp;
      await follower.close();
      expect(seen.texts().toSorted()).toEqual(
        numbered(100, 10)
          .map((m) => Buffer.from(m.value ?? []).toString())
          .toSorted(),
      );
    });

    it("a key keeps the order of the calls, and goes to the same partition as with Kafka's Java client", async () => {
      const topic = newTopic();
      await bus().declare([topic]);
      await Promise.all(numbered(300, 15).map((message) => bus().send(topic.name, [message])));

      const seen = collector();
      const follower = await bus().follow(topic.name, seen.onMessages);
      await follower.caughtUp;
      await follower.close();
      for (const [key, texts] of byKey(seen.messages)) {
        expect(texts).toEqual(Array.from({ length: 20 }, (_, n) => `${key}#${n}`));
      }
      expect(seen.messages).toHaveLength(300);
      for (const message of seen.messages) expect(message.partition).toBe(partitionOf(message.key, 4));
    });

    it("each message arrives intact, with its schema version, headers and record time", async () => {
      const topic = newTopic({ partitions: 1 });
      await bus().declare([topic]);
      const value = Uint8Array.from([0, 255, 128, 7]);
      await bus().send(topic.name, [
        { key: "ключ", value, schemaVersion: 42, headers: { traceparent: "00-ab-cd-01" } },
      ]);

      const [message] = await bus().read({ topic: topic.name, partition: 0 }, 0, 1);
      expect(message).toMatchObject({
        key: "ключ",
        offset: 0,
        schemaVersion: 42,
        intact: true,
        headers: { traceparent: "00-ab-cd-01" },
      });
      expect(Uint8Array.from(message?.value ?? [])).toEqual(value);
      expect(Math.abs((message?.sentAtMillis ?? 0) - Date.now())).toBeLessThan(24 * 3_600_000);
    });

    it("a message with a wrong checksum is marked as not intact", async () => {
      const topic = newTopic({ partitions: 1 });
      await bus().declare([topic]);
      await make().putBroken(topic.name, "k");
      const [message] = await bus().read({ topic: topic.name, partition: 0 }, 0, 1);
      expect(message).toMatchObject({ key: "k", intact: false });
    });

    it("the bus returns the oldest and the next offset of each partition, and reads a message by its offset", async () => {
      const topic = newTopic({ partitions: 2 });
      await bus().declare([topic]);
      const messages = numbered(40, 8);
      await bus().send(topic.name, messages);
      const highs = [0, 1].map((p) => messages.filter((m) => partitionOf(m.key, 2) === p).length);

      expect(await bus().watermarks(topic.name)).toEqual([
        { topic: topic.name, partition: 0, low: 0, high: highs[0] },
        { topic: topic.name, partition: 1, low: 0, high: highs[1] },
      ]);
      const expected = messages
        .filter((m) => partitionOf(m.key, 2) === 0)
        .map((m) => Buffer.from(m.value ?? []).toString());
      const read = await bus().read({ topic: topic.name, partition: 0 }, 2, 5);
      expect(read.map((m) => m.offset)).toEqual([2, 3, 4, 5, 6]);
      expect(read.map(textOf)).toEqual(expected.slice(2, 7));
      expect(await bus().read({ topic: topic.name, partition: 0 }, highs[0] ?? 0, 5)).toEqual([]);
    });

    it("a compacted topic keeps the last value of each key, and no tombstone after its retention", async () => {
      const topic = newTopic({ partitions: 1, cleanup: "compact", retentionMillis: 0, minCompactionLagMillis: 0 });
      await bus().declare([topic]);
      await bus().send(topic.name, [textMessage("a", "a1"), textMessage("b", "b1"), textMessage("a", "a2")]);
      await bus().send(topic.name, [{ key: "b", value: null, schemaVersion: 1 }]);

      await vi.waitFor(
        async () => {
          // A broker compacts only the segments before its newest one, so another message must follow.
          await bus().send(topic.name, [textMessage("filler", "x")]);
          const kept = await bus().read({ topic: topic.name, partition: 0 }, 0, 4);
          expect(kept.map((m) => [m.offset, textOf(m)])).toEqual([[2, "a2"]]);
        },
        { timeout: 25_000, interval: 300 },
      );
    });

    it("a tombstone arrives as a null value until its retention ends", async () => {
      const topic = newTopic({ partitions: 1, cleanup: "compact" });
      await bus().declare([topic]);
      await bus().send(topic.name, [textMessage("a", "a1"), { key: "a", value: null, schemaVersion: 3 }]);
      const [tombstone] = await bus().read({ topic: topic.name, partition: 0 }, 1, 1);
      expect(tombstone).toMatchObject({ key: "a", value: null, intact: true, schemaVersion: 3 });
    });

    it("compaction keeps messages that are younger than the topic's lag", async () => {
      const topic = newTopic({ partitions: 1, cleanup: "compact", minCompactionLagMillis: 3_600_000 });
      await bus().declare([topic]);
      await bus().send(topic.name, numbered(10, 1));
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await bus().read({ topic: topic.name, partition: 0 }, 0, 10)).toHaveLength(10);
    });
  });

  describe("refusing", () => {
    it("a call with a message over the limit is refused as a whole", async () => {
      const topic = newTopic({ partitions: 1 });
      await bus().declare([topic]);
      const large = { key: "k", value: Buffer.alloc(1_100_000), schemaVersion: 1 };
      await expect(bus().send(topic.name, [textMessage("k", "small"), large])).rejects.toMatchObject({
        name: "BusError",
        code: "too-large",
        retriable: false,
      });
      expect((await bus().watermarks(topic.name))[0]?.high).toBe(0);
    });

    it("every call fails with unknown-topic where the topic was not declared", async () => {
      const failure = { code: "unknown-topic", retriable: false };
      const { handler, onMessages } = collector();
      await expect(bus().send("t.nowhere", [textMessage("k", "v")])).rejects.toMatchObject(failure);
      await expect(bus().consume({ group: "g", topics: ["t.nowhere"], handler })).rejects.toMatchObject(failure);
      await expect(bus().follow("t.nowhere", onMessages)).rejects.toMatchObject(failure);
      await expect(bus().watermarks("t.nowhere")).rejects.toMatchObject(failure);
      await expect(bus().read({ topic: "t.nowhere", partition: 0 }, 0, 1)).rejects.toMatchObject(failure);
    });

    it("a declaration fails with topic-mismatch if partitions or cleanup differ, but not if only the retention differs", async () => {
      const topic = newTopic();
      await bus().declare([topic]);
      await bus().declare([topic, newTopic()]);
      await bus().declare([{ ...topic, retentionMillis: 7_200_000 }]);
      const failure = { code: "topic-mismatch", retriable: false };
      await expect(bus().declare([{ ...topic, partitions: 5 }])).rejects.toMatchObject(failure);
      await expect(bus().declare([{ ...topic, cleanup: "compact" }])).rejects.toMatchObject(failure);
    });

    it("every call fails with closed after the bus was closed", async () => {
      const topic = newTopic();
      const other = await make().open();
      await other.declare([topic]);
      await other.close();
      await expect(other.send(topic.name, [textMessage("k", "v")])).rejects.toMatchObject({ code: "closed" });
      await expect(other.watermarks(topic.name)).rejects.toMatchObject({ code: "closed" });
    });
  });
}
