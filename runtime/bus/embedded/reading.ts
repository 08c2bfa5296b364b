import type { OffsetJump } from "../bus.ts";
import { headOf, readMessages } from "./partition-log.ts";
import type { Page } from "../pump.ts";
import type { Storage, TopicRecord } from "./storage.ts";

const PAGE_MESSAGES = 500;
const PAGE_BYTES = 4 * 1024 * 1024;

/** A page, and the range that retention removed before it was read. */
export interface PageOrJump extends Page {
  readonly jump?: OffsetJump;
}

/**
 * Reads from `offset` on. If the partition's oldest message comes after it, the page starts there and the range in between is reported as a
 * jump. Gaps from compaction are not jumps.
 */
export function readPage(storage: Storage, topic: TopicRecord, partition: number, offset: number): PageOrJump {
  return storage.read(() => {
    const head = headOf(storage, topic.id, partition);
    const fromOffset = Math.max(offset, head.low);
    const messages =
      fromOffset < head.next
        ? readMessages(storage, topic, partition, { fromOffset, count: PAGE_MESSAGES, maxBytes: PAGE_BYTES })
        : [];
    const last = messages.at(-1);
    const page = { messages, nextOffset: last === undefined ? Math.max(fromOffset, head.next) : last.offset + 1 };
    return offset < head.low ? { ...page, jump: { topic: topic.name, partition, from: offset, to: head.low } } : page;
  });
}
