import { FACT_SCHEMA_VERSION } from "../../../domain/messages/fact-message.ts";
import type { SpoolingSender } from "../../../runtime/bus/spool.ts";
import type { BookMessage } from "./fact-book.ts";

/** Sends facts without waiting for each, and lets nobody read faster than they go. */
export interface FactSender {
  send(message: BookMessage): void;
  /** Resolves at once while few messages are under way, else when half of them are safe. */
  room(): Promise<void>;
}

/** So many messages are held in memory at most, of each topic: a few megabytes. */
const MOST_WAITING = 2_000;

/** A sender of one topic; `onError` is told of messages that could not be kept. */
export function createFactSender(sender: SpoolingSender, onError: (error: unknown) => void): FactSender {
  let waiting = 0;
  let wake: (() => void)[] = [];

  function settled(): void {
    waiting -= 1;
    if (waiting > MOST_WAITING / 2) return;
    const awake = wake;
    wake = [];
    for (const resolve of awake) resolve();
  }

  return {
    send(message) {
      waiting += 1;
      sender
        .send([{ ...message, schemaVersion: FACT_SCHEMA_VERSION }])
        .catch(onError)
        .finally(settled);
    },
    async room() {
      if (waiting >= MOST_WAITING) await new Promise<void>((resolve) => wake.push(resolve));
    },
  };
}
