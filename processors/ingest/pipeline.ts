import type { Holdings } from "../../domain/holding.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import type { Outcome } from "./steps/outcome.ts";
import { createDecodeStep, type EncodedScrape } from "./steps/decode.ts";
import { createJoinStep, type JoinedScrape } from "./steps/join.ts";

/** Who is told of every scrape that was joined, before it is stored: what shows the fleet as it is now. */
export type JoinListener = (joined: JoinedScrape) => void;

/**
 * READ THIS FIRST. What happens to a message of `gpu.samples`, from top to bottom:
 *
 * 1. `decode`: bytes to a scrape. What is broken ends as a dead letter.
 * 2. `join`: each row of the scrape to its holder, by what is known of the cluster's pods (followed-facts.ts).
 * 3. `onJoined`: who shows the fleet as it is now takes what it shows (live/gpus/devices.ts).
 * 4. `store` (batch.ts, processor.ts): rows of many scrapes become one insert; only then is the place on the bus
 *    committed. What a crash leaves uncommitted comes again, and is the same rows.
 *
 * A step returns ok, drop or dead-letter, and never throws for bad input. The processor counts and handles whatever is
 * not ok, in one place.
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
