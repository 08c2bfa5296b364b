import { groupedBy } from "../../../domain/grouped.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { Machine, NodeRecord, Span } from "../plan/node-record.ts";
import type { SampleGroup } from "../plan/samples.ts";
import { gpuOfNodeKey, readLastMoments, readOtherGroups, readSeenGpus } from "./read-samples.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

/**
 * Reads GPUs without samples in the window as they were on the day before it: those of nodes with missing GPUs, and those of bare nodes.
 * Fails with a `StoreError`.
 */
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
  const indexes = indexesOf(known);
  const lacking = nodes.filter((node) => (indexes.get(node)?.size ?? 0) < Math.max(1, mostOf(machines.get(node))));
  const gone = (await readSeenGpus(store, cluster, bare, before)).filter((gpu) => !byGpu.has(gpuOfNodeKey(gpu)));
  const asked = new Set([...lacking, ...gone.map(({ node }) => node)]);
  if (asked.size === 0) return new Map();
  return grouped(await readOtherGroups(store, cluster, [...asked], { ...before, known }));
}

/** How many days back to look for a GPU without samples for more than a day. Most have recent samples. */
const DAYS_BACK = [8, 40];

/**
 * Reads GPUs of machines without samples for more than a day, from their last sample. A GPU stays in its slot, with its instances, until
 * another GPU was seen there. Fails with a `StoreError`.
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
 * Reads GPUs that were not seen before the end of the window, from the first day after it. Their machines existed by then, and nothing was
 * seen in their slots. Fails with a `StoreError`.
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
 * Returns the times before a window to which a GPU applies that first appears in the window. Their hours must be metered again, because the
 * GPU was unknown in them. Fails with a `StoreError`.
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
  const earlier = new Set((await readLastMoments(store, cluster, late, before)).map(gpuOfNodeKey));
  return late.filter((gpu) => !earlier.has(gpuOfNodeKey(gpu))).map(({ span }) => span);
}

/** Returns the indexes of the known GPUs, by node. */
function indexesOf(known: readonly SampleGroup[]): Map<string, Set<string>> {
  const indexes = new Map<string, Set<string>>();
  for (const { node, gpu } of known) indexes.set(node, (indexes.get(node) ?? new Set()).add(gpu));
  return indexes;
}

/** Returns the most GPUs that a node had within the window. */
function mostOf(machines: readonly Machine[] = []): number {
  return Math.max(0, ...machines.map(({ most }) => most));
}

/** Groups sample groups by their GPU. */
export function grouped(groups: readonly SampleGroup[]): ReadonlyMap<string, readonly SampleGroup[]> {
  return groupedBy(groups, gpuOfNodeKey);
}
