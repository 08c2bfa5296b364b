import type { Logger } from "pino";
import type { ReceivedMessage } from "../bus.ts";
import { startPump } from "../pump.ts";
import type { Pump } from "../pump.ts";

const PAGE_MESSAGES = 500;
const PAGE_BYTES = 4 * 1024 * 1024;
/** A partition is not fetched while more than this number of bytes waits for its handler, counted after decompression. */
const FULL_BYTES = 2 * 1024 * 1024;

/** The buffer of one partition between kafkajs's fetches and the handler. */
export interface Feed {
  readonly pump: Pump;
  /** Returns the offset to fetch next. */
  nextOffset(): number;
  /** Skips to `offset`, because retention removed everything before it. */
  skipTo(offset: number): void;
  /** Takes a fetched batch. `nextOffset` is the offset after it. Messages that the feed already has are left out. */
  push(messages: readonly ReceivedMessage[], nextOffset: number): void;
}

/**
 * Starts a feed. kafkajs fetches nothing, from any partition, until every batch of the last fetch was handled. So handlers do not run
 * inside its callback: a slow partition would block the others and the heartbeats.
 *
 * @param throttle stops (`true`) and resumes the fetching of this partition
 */
export function startFeed(options: {
  readonly offset: number;
  readonly hand: (messages: readonly ReceivedMessage[]) => Promise<void>;
  readonly throttle: (stopped: boolean) => void;
  readonly logger: Logger;
}): Feed {
  let waiting: ReceivedMessage[] = [];
  let waitingBytes = 0;
  let fetchedTo = options.offset;
  let throttled = false;

  function setThrottle(stopped: boolean): void {
    if (throttled === stopped) return;
    throttled = stopped;
    options.throttle(stopped);
  }

  function dropBefore(offset: number): void {
    const first = waiting.findIndex((message) => message.offset >= offset);
    const done = first === -1 ? waiting.length : first;
    if (done === 0) return;
    for (const message of waiting.slice(0, done)) waitingBytes -= message.value?.byteLength ?? 0;
    waiting = waiting.slice(done);
    if (waitingBytes < FULL_BYTES / 2) setThrottle(false);
  }

  function nextPage(): readonly ReceivedMessage[] {
    let bytes = 0;
    const end = waiting.findIndex((message, index) => {
      bytes += message.value?.byteLength ?? 0;
      return index > 0 && (bytes > PAGE_BYTES || index === PAGE_MESSAGES);
    });
    return end === -1 ? [...waiting] : waiting.slice(0, end);
  }

  const pump = startPump({
    offset: options.offset,
    read(offset) {
      dropBefore(offset);
      const messages = nextPage();
      const last = messages.at(-1);
      const rest = waiting.length > messages.length;
      return { messages, nextOffset: rest && last !== undefined ? last.offset + 1 : fetchedTo };
    },
    hand: options.hand,
    logger: options.logger,
  });

  return {
    pump,
    nextOffset: () => fetchedTo,
    skipTo(offset) {
      fetchedTo = Math.max(fetchedTo, offset);
    },
    push(messages, nextOffset) {
      for (const message of messages) {
        if (message.offset < fetchedTo) continue;
        waiting.push(message);
        waitingBytes += message.value?.byteLength ?? 0;
      }
      fetchedTo = Math.max(fetchedTo, nextOffset);
      if (waitingBytes > FULL_BYTES) setThrottle(true);
      pump.wake();
    },
  };
}
