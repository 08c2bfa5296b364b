import type { ScrapeMoment } from "../../domain/messages/scrape-message.ts";
import { BACKFILL_HEADER } from "../../domain/messages/topics.ts";
import { dayOf } from "../../domain/time.ts";
import type { OutgoingMessage } from "../../runtime/bus/bus.ts";
import { hash } from "../fleet/hash.ts";

/** The collector name in past scrapes. */
export const HISTORY_COLLECTOR = "demo-history";

/**
 * Returns the moment of a past scrape of the target with a key. Epoch and sequence depend only on the day and the interval, so that a
 * repeated message is identical.
 */
export function momentAt(key: number, timeMillis: number, intervalMillis: number): Omit<ScrapeMoment, "dropped"> {
  const epoch = dayOf(timeMillis);
  return {
    epoch,
    sequence: Math.floor((timeMillis - epoch) / intervalMillis),
    scrapedAtMillis: timeMillis,
    intervalMillis,
    durationMicros: 2500 + (hash(key, timeMillis / 1000, 71) % 4000),
  };
}

/** Returns a message with the mark of the past. */
export function pastMessage(key: string, value: Uint8Array | null, schemaVersion: number): OutgoingMessage {
  return { key, value, schemaVersion, headers: { [BACKFILL_HEADER]: HISTORY_COLLECTOR } };
}

/** A message of the past, with the number of GPUs' rows in it. */
export interface PastMessage {
  readonly message: OutgoingMessage;
  readonly rows: number;
}
