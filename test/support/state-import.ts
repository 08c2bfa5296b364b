import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import type { ProjectionOptions } from "../../collectors/kubernetes/watcher/projector-state.ts";
import {
  createKubeStateImport,
  type ImportedMessage,
  type KubeStateImport,
} from "../../collectors/prometheus/kube-state/import.ts";
import type { SeriesRuns } from "../../collectors/prometheus/kube-state/runs.ts";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { decodeClusterFact, decodeInventory, decodeWorkload } from "../../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { kubeStatePage, type StateObject, type StatePageOptions } from "./kube-state-metrics.ts";
import { createStateScrapes, type StateScrapes } from "./state-scrapes.ts";

/** The time between two scrapes of the tests, and the time of the first one. */
export const STEP = 30_000;
export const START = Date.UTC(2026, 4, 1, 12);

/** Returns the time of a scrape by its number, or between two of them, in milliseconds since the epoch. */
export function scrapeTime(index: number): number {
  return START + index * STEP;
}

/** Returns the same as Kubernetes writes it. */
export function timeText(index: number): string {
  return new Date(scrapeTime(index)).toISOString();
}

/** The decoded facts of an import, in the order of its messages. */
export interface ImportedFacts {
  readonly pods: readonly WorkloadFact[];
  readonly nodes: readonly InventoryFact[];
  /** The last facts of nodes that still exist at the end of the import. */
  readonly knownNodes: readonly InventoryFact[];
  readonly others: readonly ClusterFact[];
  readonly remarks: ReturnType<KubeStateImport["remarks"]>;
}

/** The parts of an import that tests change. */
export interface ImportParts extends StatePageOptions {
  /** Returns the labels that Prometheus adds at a scrape. */
  readonly targetAt?: (index: number) => Readonly<Record<string, string>>;
  readonly knownLabels?: readonly string[];
  readonly projection?: ProjectionOptions;
  readonly fromMillis?: number;
}

/** Scrapes the pages of objects. `objectsAt` returns the objects at a scrape; undefined if it fails. */
export function scrapesOf(
  scrapeCount: number,
  objectsAt: (index: number) => readonly StateObject[] | undefined,
  parts: ImportParts = {},
): StateScrapes {
  const scrapes = createStateScrapes(STEP);
  for (let index = 0; index < scrapeCount; index++) {
    const objects = objectsAt(index);
    const page = objects === undefined ? undefined : kubeStatePage(objects, parts);
    scrapes.scrape(scrapeTime(index), page, parts.targetAt?.(index));
  }
  return scrapes;
}

/** Scrapes the pages of objects and imports their series. */
export async function importScrapes(...given: Parameters<typeof scrapesOf>): Promise<ImportedFacts> {
  const scrapes = scrapesOf(...given);
  return await importSeries(scrapes.series(), scrapes.seen(), given[2]);
}

/** Imports series, with everything that they have. */
export async function importSeries(
  series: readonly SeriesRuns[],
  seen: ReturnType<StateScrapes["seen"]>,
  { knownLabels = ["team"], projection, fromMillis = START }: ImportParts = {},
): Promise<ImportedFacts> {
  const imported = createKubeStateImport({
    cluster: "test",
    fromMillis,
    untilMillis: (seen.at(-1)?.untilMillis ?? 0) + STEP,
    seen,
    stepMillis: STEP,
    projection: projection ?? { pods: { kinds: ownerKinds(), labels: ["team"] }, nodes: {} },
    knownLabels,
  });
  imported.takeOwners(series);
  const messages: ImportedMessage[] = [];
  const parts = [imported.nodes(series), imported.namespaces(series), imported.queues(series), imported.pods(series)];
  for (const part of parts) for await (const ofObject of part) messages.push(...ofObject);
  const of = <Fact>(isOwn: (topic: string) => boolean, decode: (bytes: Uint8Array) => unknown): readonly Fact[] =>
    messages.filter(({ topic }) => isOwn(topic)).map(({ value }) => decode(value!) as Fact);
  const nodes = of<InventoryFact>((topic) => topic === INVENTORY_TOPIC, decodeInventory);
  return {
    pods: of((topic) => topic === WORKLOADS_TOPIC, decodeWorkload),
    nodes: nodes.filter(({ knownUntil }) => knownUntil === undefined),
    knownNodes: nodes.filter(({ knownUntil }) => knownUntil !== undefined),
    others: of((topic) => topic !== WORKLOADS_TOPIC && topic !== INVENTORY_TOPIC, decodeClusterFact),
    remarks: imported.remarks(),
  };
}
