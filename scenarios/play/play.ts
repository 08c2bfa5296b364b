import type { Scenario } from "../files.ts";
import { factsOf } from "./facts.ts";
import type { PlayedMessage } from "./message.ts";
import { scrapesOf } from "./scrapes.ts";

/**
 * Yields all messages of a scenario in the order of time, facts before the scrapes of the same time, as a collector without delay
 * would send them. They are made on demand.
 */
export function* play(scenario: Scenario): Generator<PlayedMessage> {
  const facts = factsOf(scenario);
  let fact = facts.next();
  for (const scrape of scrapesOf(scenario)) {
    for (; fact.done !== true && fact.value.atMillis <= scrape.atMillis; fact = facts.next()) yield fact.value;
    yield scrape;
  }
  for (; fact.done !== true; fact = facts.next()) yield fact.value;
}
