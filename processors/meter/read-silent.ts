import type { StoreClient } from "../../runtime/store/client.ts";
import type { Machine, Span } from "../ledger/plan/node-record.ts";
import type { SampleGroup } from "../ledger/plan/samples.ts";
import { placeKey, readOtherGroups, readSeenGpus } from "./read-samples.ts";

/** GPUs that are silent in the window, as the day before it showed them: of nodes that lack some, and of bare ones. */
export async function readEarlier(
  store: StoreClient,
  cluster: string,
  of: {
    readonly byGpu: ReadonlyMap<string, readonly SampleGroup[]>;
    readonly nodes: readonly string[];
    readonly bare: readonly string[];
    readonly machines: ReadonlyMap<string, readonly Machine[]>;
    readonly before: Span;
  },
): Promise<ReadonlyMap<string, readonly SampleGroup[]>> {
  const { byGpu, nodes, bare, machines, before } = of;
  const known = [...byGpu.values()].map((ofGpu) => ofGpu[0]!);
  const spoken = indexesOf(known);
  const lacking = nodes.filter((node) => (spoken.get(node)?.size ?? 0) < Math.max(1, mostOf(machines.get(node))));
  const gone = (await readSeenGpus(store, cluster, bare, before)).filter((place) => !byGpu.has(placeKey(place)));
  const asked = new Set([...lacking, ...gone.map(({ node }) => node)]);
  if (asked.size === 0) return new Map();
  return grouped(await readOtherGroups(store, cluster, [...asked], { ...before, known }));
}

/** How many days back a GPU is looked for that is silent for longer than a day: most were heard of lately. */
const DAYS_BACK = [8, 40];
const DAY_MILLIS = 86_400_000;

/**
 * GPUs of machines that are silent for longer than a day, as the last sample of them showed them: a GPU stays in its slot, with its
 * instances, as long as nothing else was seen there.
 */
export async function readLongAgo(
  store: StoreClient,
  cluster: string,
  of: {
    readonly byGpu: ReadonlyMap<string, readonly SampleGroup[]>;
    readonly machines: ReadonlyMap<string, readonly Machine[]>;
    readonly until: number;
  },
): Promise<readonly (readonly SampleGroup[])[]> {
  const known = [...of.byGpu.values()].map((ofGpu) => ofGpu[0]!);
  const indexes = indexesOf(known);
  const found: (readonly SampleGroup[])[] = [];
  let until = of.until;
  for (const days of DAYS_BACK) {
    const lacking = [...of.machines].flatMap(([node, ofNode]) =>
      (indexes.get(node)?.size ?? 0) < mostOf(ofNode) ? [node] : [],
    );
    if (lacking.length === 0) break;
    const from = of.until - days * DAY_MILLIS;
    const groups = grouped(await readOtherGroups(store, cluster, lacking, { from, until, known, isLast: true }));
    const newestFirst = [...groups.values()].toSorted((a, b) => b[0]!.lastAt - a[0]!.lastAt);
    for (const ofGpu of newestFirst) {
      const { node, gpu, lastAt } = ofGpu[0]!;
      const ofNode = indexes.get(node) ?? new Set();
      const isOfMachine = of.machines.get(node)!.some((machine) => machine.from <= lastAt);
      if (ofNode.has(gpu) || !isOfMachine) continue;
      indexes.set(node, ofNode.add(gpu));
      found.push(ofGpu);
    }
    until = from;
  }
  return found;
}

/** The indexes of the GPUs that are known, by node. */
function indexesOf(known: readonly SampleGroup[]): Map<string, Set<string>> {
  const indexes = new Map<string, Set<string>>();
  for (const { node, gpu } of known) indexes.set(node, (indexes.get(node) ?? new Set()).add(gpu));
  return indexes;
}

/** The most GPUs that a node had within the window. */
function mostOf(machines: readonly Machine[] = []): number {
  return Math.max(0, ...machines.map(({ most }) => most));
}

/** Groups of samples by the GPU that they are of. */
export function grouped(groups: readonly SampleGroup[]): Map<string, readonly SampleGroup[]> {
  const byGpu = new Map<string, SampleGroup[]>();
  for (const group of groups) {
    const key = placeKey(group);
    const known = byGpu.get(key);
    if (known === undefined) byGpu.set(key, [group]);
    else known.push(group);
  }
  return byGpu;
}
