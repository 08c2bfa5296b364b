import type { PlayedMessage } from "./play/message.ts";
import { factsOf } from "./play/facts.ts";
import { scrapesOf } from "./play/scrapes.ts";
import { beginOf } from "./play/tenure.ts";
import type { Arrival } from "./shape.ts";
import type { Scenario } from "./files.ts";

/** Something that happens to the books of a scenario, and what is known by then. */
export interface Stage {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly event: Scenario["events"][number];
  /** All that is known once it has happened. */
  readonly scenario: Scenario;
}

/** The stages of a scenario, in the order of time; the scenario itself is what is known before all of them. */
export function stagesOf(scenario: Scenario): readonly Stage[] {
  let known = scenario;
  return scenario.events
    .toSorted((a, b) => a.at - b.at)
    .map((event) => {
      if ("arrives" in event) known = withArrival(known, event.arrives);
      return { at: event.at, event, scenario: known };
    });
}

/** Returns the scenario with late data: pods and prices are added, nodes and namespaces are replaced. */
function withArrival(scenario: Scenario, { pods = [], nodes = [], prices, namespaces = {} }: Arrival): Scenario {
  const arrived = new Set(nodes.map(({ name }) => name));
  return {
    ...scenario,
    pods: [...scenario.pods, ...pods],
    nodes: [...scenario.nodes.filter(({ name }) => !arrived.has(name)), ...nodes],
    prices: prices === undefined ? scenario.prices : [...(scenario.prices ?? []), ...prices],
    namespaces: { ...scenario.namespaces, ...namespaces },
  };
}

/**
 * Yields the late messages of collectors: the facts that changed between two stages, from a watcher with a later term than the `earlier` ones,
 * and all scrapes again. Unchanged scrapes have no effect.
 */
export function* lateMessages(before: Scenario, after: Scenario, earlier: number): Generator<PlayedMessage> {
  const epoch = Math.max(beginOf(before), beginOf(after)) + earlier;
  const known = bodiesOf(factsOf(before));
  const changed = bodiesOf(factsOf(after));
  for (const fact of factsOf(after, epoch)) if (known.get(fact.key) !== changed.get(fact.key)) yield fact;
  yield* scrapesOf(after);
}

/** Returns the facts of each object, without epochs and resource versions. */
function bodiesOf(facts: Iterable<PlayedMessage>): ReadonlyMap<string, string> {
  const bodies = new Map<string, string>();
  const decoder = new TextDecoder();
  for (const { key, value } of facts) {
    const { epoch: _, resourceVersion: __, ...fact } = JSON.parse(decoder.decode(value)) as Record<string, unknown>;
    bodies.set(key, `${bodies.get(key) ?? ""}${JSON.stringify(fact)}\n`);
  }
  return bodies;
}
