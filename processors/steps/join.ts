import { holderByLabels, type Holder } from "../../domain/holder.ts";
import type { Scrape, ScrapeShape } from "../../domain/scrape.ts";
import type { Outcome } from "../outcome.ts";

/** A scrape and, for each of its rows, who holds the device as far as is known when it is stored. */
export interface JoinedScrape {
  readonly scrape: Scrape;
  readonly holders: readonly Holder[];
}

/**
 * Joins each row to its holder, by the exporter's own labels. The decoder gives scrapes of one shape one shape object,
 * so each shape is joined once.
 */
export function createJoinStep(): (scrape: Scrape) => Outcome<JoinedScrape> {
  const known = new WeakMap<ScrapeShape, readonly Holder[]>();
  return function join(scrape) {
    let holders = known.get(scrape.shape);
    if (holders === undefined) known.set(scrape.shape, (holders = scrape.shape.devices.map(holderByLabels)));
    return { kind: "ok", value: { scrape, holders } };
  };
}
