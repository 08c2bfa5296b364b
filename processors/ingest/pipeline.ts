import type { Holdings } from "../../domain/holding.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import type { Outcome } from "./steps/outcome.ts";
import { createDecodeStep, type EncodedScrape } from "./steps/decode.ts";
import { createJoinStep, type JoinedScrape } from "./steps/join.ts";

/** A listener that gets every joined scrape before it is stored, for views of the current fleet. */
export type JoinListener = (joined: JoinedScrape) => void;

/**
 * READ THIS FIRST. The steps of a message of `gpu.samples`, in order:
 *
 * 1. `decode`: converts bytes to a scrape. A broken message becomes a dead letter.
 * 2. `join`: joins each row of the scrape to its holder, by the known pods of the cluster (followed-facts.ts).
 * 3. `onJoined`: updates the views of the current fleet (live/gpus/devices.ts).
 * 4. `store` (batch.ts, processor.ts): inserts the rows of many scrapes at once. Only then is the offset committed.
 *
 * Messages that a crash leaves uncommitted are delivered again and give the same rows. A step returns ok, drop or dead-letter, and never
 * throws for bad input. The processor counts and handles everything that is not ok, in one place.
 */
export function createSamplePipeline(
  holdings: Holdings,
  onJoined: JoinListener = () => {},
): (message: EncodedScrape) => Outcome<JoinedScrape> {
  const decode = createDecodeStep(createScrapeDecoder());
  const join = createJoinStep(holdings);

  return function process(message) {
    const decoded = decode(message);
    if (decoded.kind !== "ok") return decoded;
    const joined = join(decoded.value);
    if (joined.kind === "ok") onJoined(joined.value);
    return joined;
  };
}
