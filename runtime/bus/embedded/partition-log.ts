import { createHash } from "node:crypto";
import { BusError } from "../bus.ts";
import type { OutgoingMessage, ReceivedMessage } from "../bus.ts";
import { partitionOf } from "../partitioner.ts";
import { decodeRecord, encodeRecord, footprintBytes } from "../record.ts";
import { encodeStamp, offsetOfKey, messageKey } from "./position.ts";
import type { Head, Storage, TopicRecord } from "./storage.ts";

const EMPTY_HEAD: Head = { low: 0, next: 0, storedBytes: 0 };

/** Returns a key's position in the table of latest messages. Keys may be longer than LMDB's 1,978 bytes; their digests are not. */
export function latestKey(topicId: number, partition: number, digest: string): Buffer {
  const prefix = Buffer.allocUnsafe(8);
  prefix.writeUInt32BE(topicId, 0);
  prefix.writeUInt32BE(partition, 4);
  return Buffer.concat([prefix, Buffer.from(digest, "hex")]);
}

/** Returns the bounds of a partition. An empty one starts at 0. */
export function headOf(storage: Storage, topicId: number, partition: number): Head {
  return storage.heads.get([topicId, partition]) ?? EMPTY_HEAD;
}

/** Returns the bytes of all messages, which `maxBytes` limits. */
export function usedBytes(storage: Storage): number {
  const used = storage.meta.get("usedBytes");
  return typeof used === "number" ? used : 0;
}

/**
 * Appends messages in order, in one transaction: all of them are kept or none. Offsets are assigned inside the transaction, so they have no
 * gaps, and no record time ever decides an order.
 *
 * Fails with `disk-full` (a retry can help: retention frees space) if the result would exceed `maxBytes`.
 */
export async function appendMessages(
  storage: Storage,
  topic: TopicRecord,
  messages: readonly OutgoingMessage[],
  limits: { readonly maxBytes: number; readonly nowMillis: number },
): Promise<void> {
  const entries = messages.map((message) => {
    const record = encodeRecord(message, limits.nowMillis);
    return {
      partition: partitionOf(message.key, topic.partitions),
      digest: topic.cleanup === "compact" ? digestOf(message.key) : "",
      tombstone: message.value === null,
      record,
      bytes: footprintBytes(record.length),
    };
  });
  const totalBytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);

  await storage.write(() => {
    const used = usedBytes(storage);
    if (used + totalBytes > limits.maxBytes) {
      throw new BusError("disk-full", `The log is full: ${used} of at most ${limits.maxBytes} bytes.`, {
        retriable: true,
      });
    }
    const heads = new Map<number, Head>();
    for (const entry of entries) {
      const head = heads.get(entry.partition) ?? headOf(storage, topic.id, entry.partition);
      const key = messageKey({ topicId: topic.id, partition: entry.partition, offset: head.next });
      void storage.messages.put(key, entry.record);
      void storage.stamps.put(key, encodeStamp({ sentAtMillis: limits.nowMillis, bytes: entry.bytes }));
      if (topic.cleanup === "compact") noteForCompaction(storage, topic.id, head.next, entry);
      heads.set(entry.partition, { ...head, next: head.next + 1, storedBytes: head.storedBytes + entry.bytes });
    }
    for (const [partition, head] of heads) void storage.heads.put([topic.id, partition], head);
    void storage.meta.put("usedBytes", used + totalBytes);
  }, totalBytes);
}

/** Reads messages from `fromOffset` on, in order: at least one if there is one, then up to `count` and about `maxBytes`. */
export function readMessages(
  storage: Storage,
  topic: TopicRecord,
  partition: number,
  limits: {
    readonly fromOffset: number;
    readonly toOffset?: number;
    readonly count: number;
    readonly maxBytes: number;
  },
): readonly ReceivedMessage[] {
  const end = limits.toOffset ?? Number.MAX_SAFE_INTEGER;
  const range = storage.messages.getRange({
    start: messageKey({ topicId: topic.id, partition, offset: limits.fromOffset }),
    end: messageKey({ topicId: topic.id, partition, offset: end }),
    limit: limits.count,
  });
  const messages: ReceivedMessage[] = [];
  let bytes = 0;
  for (const { key, value } of range) {
    messages.push(decodeRecord(value, topic.name, partition, offsetOfKey(key)));
    bytes += value.length;
    if (bytes >= limits.maxBytes) break;
  }
  return messages;
}

function digestOf(key: string): string {
  return createHash("sha256").update(key, "utf8").digest("hex");
}

function noteForCompaction(
  storage: Storage,
  topicId: number,
  offset: number,
  entry: { readonly partition: number; readonly digest: string; readonly tombstone: boolean },
): void {
  const { partition, digest } = entry;
  const key = latestKey(topicId, partition, digest);
  const earlier = storage.latest.get(key);
  if (earlier !== undefined) {
    void storage.garbage.put(messageKey({ topicId, partition, offset: earlier }), { superseded: true, digest });
  }
  void storage.latest.put(key, offset);
  if (entry.tombstone)
    void storage.garbage.put(messageKey({ topicId, partition, offset }), { superseded: false, digest });
}
