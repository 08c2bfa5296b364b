import { setImmediate as yieldToOthers } from "node:timers/promises";
import { headOf, latestKey, usedBytes } from "./partition-log.ts";
import { decodeStamp, offsetOfKey, placeKey } from "./place.ts";
import type { Garbage, Storage, TopicRecord } from "./storage.ts";

/** Entries that are looked at in one go, and removed in one transaction. */
const SLICE = 500;

interface Entry {
  readonly key: Buffer;
  readonly garbage: Garbage;
}

/**
 * Removes messages that a later one of the same key has superseded once they are older than the topic's lag, and
 * tombstones once they are older than the topic's retention; a key's latest message otherwise stays for ever. Returns
 * how many were removed. What it costs depends on what there is to remove, not on the topic's length, because `send`
 * notes what it supersedes, and because it goes no further than the lag: what comes later is younger still.
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
    start: placeKey({ topicId, partition, offset: from }),
    end: placeKey({ topicId, partition, offset: Number.MAX_SAFE_INTEGER }),
    limit: SLICE,
  });
  return [...range].map(({ key, value }) => ({ key: Buffer.from(key), garbage: value }));
}

/** How old an entry's message is; one that is gone already is older than everything. */
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
    // Read again: another process may have superseded a tombstone since, or may have removed the message.
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
