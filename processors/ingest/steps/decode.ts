import type { MessageDecoder } from "../../../domain/messages/scrape-message.ts";
import type { Outcome } from "./outcome.ts";

/** The parts of a bus message that the step needs. */
export interface EncodedScrape {
  readonly value: Uint8Array | null;
  /** True if the sender's checksum matches. */
  readonly intact: boolean;
}

/** Creates the step that decodes bytes to a scrape. A broken checksum, or bytes that are not a scrape, become a dead letter. */
export function createDecodeStep<Scrape extends object>(
  decoder: MessageDecoder<Scrape>,
): (message: EncodedScrape) => Outcome<Scrape> {
  return function decode({ value, intact }) {
    if (value === null) return { kind: "drop", reason: "tombstone" };
    if (!intact)
      return { kind: "dead-letter", reason: "broken-checksum", cause: "the checksum does not match the value" };
    const scrape = decoder.decode(value);
    if ("invalid" in scrape) return { kind: "dead-letter", reason: "not-a-scrape", cause: scrape.invalid };
    return { kind: "ok", value: scrape };
  };
}
