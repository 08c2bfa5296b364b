import type { Logger } from "pino";
import type { ReceivedMessage } from "./bus.ts";
import { createSignal } from "./signal.ts";

const FIRST_RETRY_MILLIS = 100;
const LONGEST_RETRY_MILLIS = 10_000;

/** A page of messages for a pump, with the offset after it. */
export interface Page {
  readonly messages: readonly ReceivedMessage[];
  readonly nextOffset: number;
}

/** A pump that delivers one partition's messages, one batch at a time. */
export interface Pump {
  /** Signals that there may be new messages. */
  wake(): void;
  pause(): void;
  resume(): void;
  /** Returns the offset after the last message that was handled. */
  position(): number;
  /** Stops delivery. Resolves when the current batch is done. */
  stop(): Promise<void>;
}

/**
 * Starts a pump at `offset`. If the handler of a batch fails, the failure is logged and the batch is delivered again after 0.1 s, then at
 * doubling intervals up to 10 s: at-least-once, and no other partition waits for it.
 */
export function startPump(options: {
  readonly offset: number;
  readonly read: (offset: number) => Page;
  readonly hand: (messages: readonly ReceivedMessage[]) => Promise<void>;
  readonly logger: Logger;
}): Pump {
  const signal = createSignal();
  let position = options.offset;
  let paused = false;
  let stopped = false;

  async function run(): Promise<void> {
    let retryMillis = FIRST_RETRY_MILLIS;
    while (!stopped) {
      if (paused) {
        await signal.wait();
        continue;
      }
      try {
        const page = options.read(position);
        if (page.messages.length > 0) await options.hand(page.messages);
        position = page.nextOffset;
        retryMillis = FIRST_RETRY_MILLIS;
        if (page.messages.length === 0) await signal.wait();
      } catch (error) {
        options.logger.error(
          { err: error, offset: position },
          "Messages were not processed; they are delivered again.",
        );
        await pauseFor(retryMillis);
        retryMillis = Math.min(2 * retryMillis, LONGEST_RETRY_MILLIS);
      }
    }
  }

  async function pauseFor(millis: number): Promise<void> {
    const until = performance.now() + millis;
    while (!stopped && performance.now() < until) await signal.wait(until - performance.now());
  }

  const done = run();
  return {
    wake: () => signal.set(),
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      signal.set();
    },
    position: () => position,
    async stop() {
      stopped = true;
      signal.set();
      await done;
    },
  };
}
