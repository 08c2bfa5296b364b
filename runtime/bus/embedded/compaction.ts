import { setImmediate as yieldToOthers } from "node:timers/promises";
import { headOf, latestKey, usedBytes } from "./partition-log.ts";
import { decodeStamp, offsetOfKey, messageKey } from "./position.ts";
import type { Garbage, Storage, TopicRecord } from "./storage.ts";

/** The most entries that are read at once and removed in one transaction. */
const SLICE = 500;

interface Entry {
  readonly key: Buffer;
  readonly garbage: Garbage;
}

/**
 * Removes superseded messages that are older than the topic's lag, and tombstones that are older than the topic's retention. The latest
 * message of a key otherwise stays forever. Returns the number of removed messages. The cost depends on what there is to remove, not on
 * the topic's length, because `send` records what it supersedes, and because the scan stops at the lag: later entries are younger.
 */
export async function compactPartition(
  storage: Storage,
  topic: TopicRecord,
  partition: number,
  nowMillis: number,
): Promise<number> {
  const lagMillis = topic.minCompactionLagMillis ?? 0;
  let removed = 0;
  let from = 0;
  for (;;) {
    const entries = storage.read(() => garbageFrom(storage, topic.id, partition, from));
    const last = entries.at(-1);
    if (last === undefined) return removed;
    from = offsetOfKey(last.key) + 1;
    const due = entries.filter((entry) => ageOf(storage, entry, nowMillis) >= keptMillis(topic, entry.garbage));
    if (due.length > 0) removed += await storage.write(() => removeAll(storage, topic, partition, due));
    else await yieldToOthers();
    if (ageOf(storage, last, nowMillis) < lagMillis) return removed;
  }
}

function garbageFrom(storage: Storage, topicId: number, partition: number, from: number): Entry[] {
  const range = storage.garbage.getRange({
    start: messageKey({ topicId, partition, offset: from }),
    end: messageKey({ topicId, partition, offset: Number.MAX_SAFE_INTEGER }),
    limit: SLICE,
  });
  return [...range].map(({ key, value }) => ({ key: Buffer.from(key), garbage: value }));
}

/** Returns the age of an entry's message; Infinity if the message is already gone. */
function ageOf(storage: Storage, { key }: Entry, nowMillis: number): number {
  const stamp = storage.stamps.get(key);
  return stamp === undefined ? Infinity : nowMillis - decodeStamp(stamp).sentAtMillis;
}

function keptMillis(topic: TopicRecord, garbage: Garbage): number {
  const lagMillis = topic.minCompactionLagMillis ?? 0;
  return garbage.superseded ? lagMillis : Math.max(lagMillis, topic.retentionMillis);
}

function removeAll(storage: Storage, topic: TopicRecord, partition: number, due: readonly Entry[]): number {
  let bytes = 0;
  let count = 0;
  for (const { key } of due) {
    // Read again in the transaction: another process may have superseded a tombstone or removed the message in the meantime.
    const garbage = storage.garbage.get(key);
    const stamp = storage.stamps.get(key);
    void storage.garbage.remove(key);
    if (garbage === undefined || stamp === undefined) continue;
    if (!garbage.superseded) void storage.latest.remove(latestKey(topic.id, partition, garbage.digest));
    void storage.messages.remove(key);
    void storage.stamps.remove(key);
    bytes += decodeStamp(stamp).bytes;
    count += 1;
  }
  const head = headOf(storage, topic.id, partition);
  void storage.heads.put([topic.id, partition], { ...head, storedBytes: head.storedBytes - bytes });
  void storage.meta.put("usedBytes", usedBytes(storage) - bytes);
  return count;
}
