import { FACT_SCHEMA_VERSION } from "../../../domain/messages/fact-message.ts";
import type { SpoolingSender } from "../../../runtime/bus/spool.ts";
import type { RegistryMessage } from "./fact-registry.ts";

/** A sender of facts that does not wait for each message. Readers must wait for `room`. */
export interface FactSender {
  send(message: RegistryMessage): void;
  /** Resolves at once if few messages are in progress, otherwise when half of them are safe. */
  room(): Promise<void>;
}

/** The most messages in memory for each topic: a few megabytes. */
const MOST_WAITING = 2_000;

/** Creates a sender for one topic. `onError` gets the errors of messages that could not be kept. */
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
