import { headOf, usedBytes } from "./partition-log.ts";
import { decodeStamp, offsetOfKey, messageKey } from "./position.ts";
import type { Storage, TopicRecord } from "./storage.ts";

/** The most messages that one transaction removes, because a transaction blocks all other writers. */
const SLICE = 500;
/** A record time that is further than this ahead of the clock was written while the clock was wrong. */
const FUTURE_MILLIS = 60_000;

/**
 * Removes a slice of a partition's oldest messages that are older than the topic's retention or exceed its bytes. Returns the number of
 * removed messages; the caller repeats until it is 0.
 *
 * Only a prefix is ever removed. A message with a record time in the future (the clock has gone back since) does not expire by itself and
 * does not keep its successors from expiring: if a later message is too old, everything before it is too.
 */
export async function removeExpired(
  storage: Storage,
  topic: TopicRecord,
  partition: number,
  nowMillis: number,
): Promise<number> {
  const keyAt = (offset: number) => messageKey({ topicId: topic.id, partition, offset });
  const stampsFrom = (from: number, to: number) =>
    storage.stamps
      .getRange({ start: keyAt(from), end: keyAt(to), limit: SLICE })
      .map(({ key, value }) => ({ offset: offsetOfKey(key), ...decodeStamp(value) }));

  const cut = storage.read(() => {
    const head = headOf(storage, topic.id, partition);
    let remainingBytes = head.storedBytes;
    let end = head.low;
    for (const stamp of stampsFrom(head.low, head.next)) {
      const tooOld = stamp.sentAtMillis <= nowMillis - topic.retentionMillis;
      const tooMuch = topic.retentionBytes !== undefined && remainingBytes > topic.retentionBytes;
      if (!tooOld && !tooMuch && stamp.sentAtMillis <= nowMillis + FUTURE_MILLIS) break;
      remainingBytes -= stamp.bytes;
      if (tooOld || tooMuch) end = stamp.offset + 1;
    }
    return { low: head.low, end };
  });
  if (cut.end === cut.low) return 0;

  return storage.write(() => {
    const head = headOf(storage, topic.id, partition);
    if (head.low !== cut.low) return 0;
    const stamps = [...stampsFrom(head.low, cut.end)];
    let bytes = 0;
    for (const stamp of stamps) {
      void storage.messages.remove(keyAt(stamp.offset));
      void storage.stamps.remove(keyAt(stamp.offset));
      bytes += stamp.bytes;
    }
    const left = { low: cut.end, next: head.next, storedBytes: head.storedBytes - bytes };
    void storage.heads.put([topic.id, partition], left);
    void storage.meta.put("usedBytes", usedBytes(storage) - bytes);
    return stamps.length;
  });
}
