import type { StoreClient } from "../../../runtime/store/client.ts";
import type { Machine, NodeRecord, Span } from "../plan/node-record.ts";
import type { SampleGroup } from "../plan/samples.ts";
import { placeKey, readLastMoments, readOtherGroups, readSeenGpus } from "./read-samples.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

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

/**
 * GPUs that nobody had seen by the end of the window, as the first day after it shows them: of machines that were there by then, in slots
 * in which nothing was seen.
 */
export async function readLater(
  store: StoreClient,
  cluster: string,
  of: {
    readonly byGpu: ReadonlyMap<string, readonly SampleGroup[]>;
    readonly machines: ReadonlyMap<string, readonly Machine[]>;
    readonly after: Span;
  },
): Promise<readonly (readonly SampleGroup[])[]> {
  const { byGpu, machines, after } = of;
  const known = [...byGpu.values()].map((ofGpu) => ofGpu[0]!);
  const indexes = indexesOf(known);
  const staying = [...machines].filter(([, ofNode]) => ofNode.some(({ until }) => until > after.from));
  const lacking = staying.flatMap(([node, ofNode]) =>
    (indexes.get(node)?.size ?? 0) < Math.max(1, mostOf(ofNode)) ? [node] : [],
  );
  if (lacking.length === 0) return [];
  const groups = grouped(await readOtherGroups(store, cluster, lacking, { ...after, known }));
  const oldestFirst = [...groups.values()].toSorted((a, b) => a[0]!.firstAt - b[0]!.firstAt);
  return oldestFirst.filter((ofGpu) => {
    const { node, gpu, firstAt } = ofGpu[0]!;
    const ofNode = indexes.get(node) ?? new Set();
    const isOfMachine = machines.get(node)!.some(({ from, until }) => from < after.from && firstAt < until);
    if (ofNode.has(gpu) || !isOfMachine) return false;
    indexes.set(node, ofNode.add(gpu));
    return true;
  });
}

/**
 * The time before a window for which a GPU counts that the window shows first: its hours are to be metered again, as what is known of
 * the GPU was not known in them.
 */
export async function spansOfNewGpus(
  store: StoreClient,
  cluster: string,
  records: readonly NodeRecord[],
  { from, absentAfterMillis }: Pick<Span, "from"> & { readonly absentAfterMillis: number },
): Promise<readonly Span[]> {
  const late = records.flatMap(({ node, isBare, seen, machines }) =>
    seen.flatMap(({ gpuKey, isSilent, from: firstAt }) => {
      const machine = machines.find((one) => one.from < from && firstAt < one.until);
      if (isBare || isSilent || firstAt < from || machine === undefined) return [];
      return [{ node, gpuKey, span: { from: Math.max(machine.from, firstAt - absentAfterMillis), until: from } }];
    }),
  );
  if (late.length === 0) return [];
  const before = { from: Math.min(...late.map(({ span }) => span.from)), until: from };
  const earlier = new Set((await readLastMoments(store, cluster, late, before)).map(placeKey));
  return late.filter((place) => !earlier.has(placeKey(place))).map(({ span }) => span);
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
