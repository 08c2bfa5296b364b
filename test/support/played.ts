import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { Device } from "../../domain/device.ts";
import type { Holder } from "../../domain/holder.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { decodeClusterFact, decodeInventory, decodeWorkload } from "../../domain/messages/fact-message.ts";
import { createScrapeDecoder, type ScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, SAMPLES_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { Scrape } from "../../domain/scrape.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { createHoldings } from "../../processors/ingest/holdings/holdings.ts";
import { createJoinStep } from "../../processors/ingest/steps/join.ts";
import { factsOf } from "../../scenarios/play/facts.ts";
import type { PlayedMessage } from "../../scenarios/play/message.ts";
import { play } from "../../scenarios/play/play.ts";
import { scrapesOf } from "../../scenarios/play/scrapes.ts";
import { scenarioSchema } from "../../scenarios/schema.ts";
import type { Scenario } from "../../scenarios/files.ts";

/** A fact of a played scenario as a consumer decodes it. */
export type PlayedFact =
  | { readonly of: "workload"; readonly fact: WorkloadFact }
  | { readonly of: "inventory"; readonly fact: InventoryFact }
  | { readonly of: "cluster"; readonly fact: ClusterFact };

/** A row of a played scrape with the holder that the join finds for its device. */
export interface PlayedSample {
  readonly at: number;
  readonly node: string;
  readonly device: Device;
  readonly holder: Holder;
  /** The exporter's values, by column name. */
  readonly values: Readonly<Record<string, number>>;
}

/** A scenario of two hours with the given parts, and defaults for the others. */
export function scenarioWith(given: Readonly<Record<string, unknown>>): Scenario {
  const period = { start: "2026-03-02T00:00:00Z", end: "2026-03-02T02:00:00Z" };
  return scenarioSchema.parse({ title: "a case", period, ...given });
}

/** A moment of that period by its minutes, as ISO 8601. */
export function minute(minutes: number): string {
  return new Date(Date.UTC(2026, 2, 2) + minutes * 60_000).toISOString();
}

/** The same moment in milliseconds since the epoch. */
export function millisOf(minutes: number): number {
  return Date.UTC(2026, 2, 2) + minutes * 60_000;
}

/** The facts of a scenario, decoded from their messages. Fails where one does not decode. */
export function decodedFacts(scenario: Scenario): readonly PlayedFact[] {
  return [...factsOf(scenario)].map(decodeFact);
}

/** The scrapes of a scenario, decoded from their messages. Fails where one does not decode. */
export function decodedScrapes(scenario: Scenario): readonly Scrape[] {
  const decoder = createScrapeDecoder();
  return [...scrapesOf(scenario)].map((message) => decodeScrape(decoder, message));
}

/** The rows of all scrapes of a scenario, joined with the facts that a watcher had sent until then. */
export function joinedSamples(scenario: Scenario): readonly PlayedSample[] {
  const holdings = createHoldings();
  const join = createJoinStep(holdings);
  const decoder = createScrapeDecoder();
  return [...play(scenario)].flatMap((message): readonly PlayedSample[] => {
    if (message.topic !== SAMPLES_TOPIC) {
      const played = decodeFact(message);
      if (played.of === "workload") holdings.workload(played.fact);
      else if (played.of === "inventory") holdings.inventory(played.fact);
      else holdings.clusterFact(played.fact);
      return [];
    }
    const outcome = join(decodeScrape(decoder, message));
    if (outcome.kind !== "ok") throw new Error("a join has no other outcome");
    const { scrape, holders } = outcome.value;
    const { devices, columns } = scrape.shape;
    return devices.map((device, row) => ({
      at: scrape.scrapedAtMillis,
      node: scrape.node,
      device,
      holder: holders[row]!,
      values: Object.fromEntries(
        columns.flatMap((name, column) => {
          const value = scrape.values[row * columns.length + column]!;
          return Number.isNaN(value) ? [] : [[name, value]];
        }),
      ),
    }));
  });
}

function decodeScrape(decoder: ScrapeDecoder, { value }: PlayedMessage): Scrape {
  const scrape = decoder.decode(value);
  if ("invalid" in scrape) throw new Error(scrape.invalid);
  return scrape;
}

function decodeFact({ topic, value }: PlayedMessage): PlayedFact {
  const played = { [WORKLOADS_TOPIC]: workload, [INVENTORY_TOPIC]: inventory, [CLUSTER_TOPIC]: cluster }[topic]!(value);
  if ("invalid" in played.fact) throw new Error(played.fact.invalid as string);
  return played as PlayedFact;
}

function workload(bytes: Uint8Array) {
  return { of: "workload", fact: decodeWorkload(bytes) } as const;
}

function inventory(bytes: Uint8Array) {
  return { of: "inventory", fact: decodeInventory(bytes) } as const;
}

function cluster(bytes: Uint8Array) {
  return { of: "cluster", fact: decodeClusterFact(bytes) } as const;
}
