import type { Holding } from "../../../domain/holding.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { AROUND_SPANS, bySpan, IN_SPANS, spanParameters } from "../hours/spans-sql.ts";
import { withEarliestLayouts } from "../plan/layouts.ts";
import type { Machine, NodeRecord, ProvenLabel, SeenFault, SeenGpu, Span } from "../plan/node-record.ts";
import { withPhysicalGpus } from "../plan/physical.ts";
import type { ClusterRecord } from "../plan/cluster-record.ts";
import { readProofs } from "./proofs.ts";
import type { FactsOfNodes } from "./read-facts.ts";
import { readNamesakes } from "./read-pods.ts";
import { gpuOfNodeKey, readFirstMoments, readGroups, readLastMoments, readMoments, readOnset } from "./read-samples.ts";
import { grouped, readEarlier, readLater, readLongAgo } from "./read-silent.ts";
import type { GpuOfNode, SampleGroup, SampleMoment } from "../plan/samples.ts";
import { needsMoments, seenGpu, type Namesakes } from "../plan/sightings.ts";

/** A window for which records are read. */
export interface RecordWindow extends Span {
  /** The longest time that samples before the window cover. */
  readonly reachMillis: number;
  /** The time up to which all reports are complete. A device without samples after it may only be late. */
  readonly asOf: number;
  /** Without Kubernetes, a slot ends if it has no sample for this many milliseconds. */
  readonly absentAfterMillis: number;
}

/** A node's name, and whether Kubernetes never reported the node. */
export interface NamedNode {
  readonly node: string;
  readonly isBare: boolean;
}

const NAMES = `
SELECT span, node, toBool(min(bare)) AS isBare FROM (
  SELECT arrayJoin(arrayEnumerate({begins:Array(Int64)})) AS span, node, 0 AS bare FROM inventory_facts WHERE cluster = {cluster:String}
  UNION ALL
  SELECT span, node, 1 AS bare FROM scrapes
  ${IN_SPANS}
  WHERE cluster = {cluster:String} AND devices > 0 AND ${AROUND_SPANS}
) WHERE node != '' GROUP BY span, node ORDER BY node`;

/** Reads the nodes of a cluster with facts or samples that can affect a window, sorted by name. */
export function readNodeNames(
  store: StoreClient,
  cluster: string,
  { from, until, absentAfterMillis }: RecordWindow,
): Promise<readonly NamedNode[]> {
  return together(store, readNames, { cluster, span: { from: from - absentAfterMillis, until } });
}

async function readNames(
  store: StoreClient,
  all: readonly { readonly cluster: string; readonly span: Span }[],
): Promise<readonly (readonly NamedNode[])[]> {
  const parameters = { cluster: all[0]!.cluster, ...spanParameters(all.map(({ span }) => span)) };
  return bySpan<NamedNode>(await store.query(NAMES, parameters), all);
}

/** The other data that records are made from. */
interface KnownAround extends Pick<SeenWindow, "window" | "looked"> {
  readonly ofCluster: ClusterRecord;
  /** The facts of the nodes. */
  readonly facts: Promise<FactsOfNodes>;
}

/** Reads the records of some nodes around a window, from facts and samples in the store. Fails with a `StoreError`. */
export async function readRecords(
  store: StoreClient,
  cluster: string,
  named: readonly NamedNode[],
  { window, looked, ofCluster, facts }: KnownAround,
): Promise<readonly NodeRecord[]> {
  const nodes = named.map(({ node }) => node);
  const [{ machines, pods }, groups] = await Promise.all([facts, readGroups(store, cluster, nodes, looked)]);
  const here = [...pods.values()].flatMap((ofNode) => [...ofNode.values()].map(({ holding }) => holding));
  const names = createNames(store, cluster, here);
  await names.learn(groups);
  const bare = named.filter(({ isBare }) => isBare).map(({ node }) => node);
  const proven = await readProofs(store, cluster, pods);
  const seen = await readSeen(store, cluster, { groups, nodes, bare, machines, names, proven, window, looked });
  return named.map(({ node, isBare }) =>
    withEarliestLayouts(
      withPhysicalGpus({
        cluster,
        node,
        isBare,
        machines: machines.get(node)!,
        pods: pods.get(node)!,
        claimed: ofCluster.claimed,
        namespace: ofCluster.namespace,
        slices: ofCluster.slicesOf(node),
        taints: ofCluster.taintsOf(node),
        seen: seen.get(node) ?? [],
        proven: proven.get(node) ?? [],
      }),
    ),
  );
}

/** A lookup of the pods that labels name. */
interface Names {
  readonly namesakes: Namesakes;
  /** Reads the bound pods of all names in the rows that were not read yet. */
  learn(rows: readonly { readonly namespace: string; readonly pod: string }[]): Promise<void>;
}

/** Creates a lookup with the pods that hold on some nodes. */
function createNames(store: StoreClient, cluster: string, known: readonly Holding[]): Names {
  const byName = new Map<string, Map<string, Holding>>();
  const add = (holding: Holding): void => {
    const name = `${holding.namespace}/${holding.name}`;
    byName.set(name, (byName.get(name) ?? new Map<string, Holding>()).set(holding.uid, holding));
  };
  for (const holding of known) add(holding);
  const asked = new Set<string>();
  return {
    namesakes: (namespace, pod) => [...(byName.get(`${namespace}/${pod}`)?.values() ?? [])],
    async learn(rows) {
      const named = rows.filter(({ pod }) => pod !== "").map(({ namespace, pod }) => `${namespace}/${pod}`);
      const unknown = [...new Set(named)].filter((name) => !byName.has(name) && !asked.has(name));
      for (const name of unknown) asked.add(name);
      for (const holding of await readNamesakes(store, cluster, unknown)) add(holding);
    },
  };
}

interface SeenWindow {
  readonly groups: readonly SampleGroup[];
  readonly nodes: readonly string[];
  readonly bare: readonly string[];
  readonly machines: ReadonlyMap<string, readonly Machine[]>;
  readonly names: Names;
  readonly proven: ReadonlyMap<string, readonly ProvenLabel[]>;
  readonly window: RecordWindow;
  /** The window, extended back by the reach of samples. */
  readonly looked: Span;
}

/** Reads the GPUs in the samples of each node. GPUs that changed are read moment by moment. */
async function readSeen(
  store: StoreClient,
  cluster: string,
  { groups, nodes, bare, machines, names, proven, window, looked }: SeenWindow,
): Promise<ReadonlyMap<string, readonly SeenGpu[]>> {
  const byGpu = new Map(grouped(groups));
  const speaking = new Set(byGpu.keys());
  const before = { from: looked.from - window.absentAfterMillis, until: looked.from };
  const isBare = new Set(bare);
  // Instances that a GPU was cut into later can be those that a pod of the window has.
  const isCutLater = ({ node, gpu }: SampleGroup): boolean =>
    (proven.get(node) ?? []).some(({ slot, part, at }) => at >= window.until && part !== "" && String(slot) === gpu);
  for (const [key, earlier] of await readEarlier(store, cluster, { byGpu, nodes, bare, machines, before }))
    byGpu.set(key, earlier);
  const special = [...byGpu.values()].flatMap((ofGpu) => {
    const { node, gpuKey } = ofGpu[0]!;
    const isAfterwards = isBare.has(node) || isCutLater(ofGpu[0]!);
    return isAfterwards || needsMoments(ofGpu, names.namesakes, looked) ? [{ node, gpuKey, isAfterwards }] : [];
  });
  const moments = new Map<string, SampleMoment[]>(special.map((gpu) => [gpuOfNodeKey(gpu), []]));
  const last = await readLastMoments(store, cluster, special, before);
  await names.learn(last);
  for (const moment of last) moments.get(gpuOfNodeKey(moment))!.push(moment);
  for (const moment of await readMoments(store, cluster, special, looked))
    moments.get(gpuOfNodeKey(moment))!.push(moment);
  const after = { from: window.until, until: window.until + window.absentAfterMillis };
  const afterwards = special.filter(({ isAfterwards }) => isAfterwards);
  const firsts = await readFirstMoments(store, cluster, afterwards, after);
  const next = new Map(firsts.map((moment) => [gpuOfNodeKey(moment), moment.at]));
  for (const moment of firsts) if (!isBare.has(moment.node)) moments.get(gpuOfNodeKey(moment))!.push(moment);
  for (const ofGpu of await readLongAgo(store, cluster, { byGpu, machines, until: before.from }))
    byGpu.set(gpuOfNodeKey(ofGpu[0]!), ofGpu);
  for (const ofGpu of await readLater(store, cluster, { byGpu, machines, after }))
    byGpu.set(gpuOfNodeKey(ofGpu[0]!), ofGpu);

  const seen = new Map<string, SeenGpu[]>();
  for (const [key, ofGpu] of byGpu) {
    const { node } = ofGpu[0]!;
    const ofMoments = moments.get(key);
    const lives = isBare.has(node) ? livesOf(ofMoments ?? [], next.get(key), window) : [undefined];
    for (const life of lives) {
      const gpu = seenGpu({ groups: ofGpu, moments: ofMoments }, names.namesakes, life);
      if (gpu === undefined) continue;
      const faults = await beganBefore(store, cluster, { node, gpuKey: gpu.gpuKey }, gpu.faults, ofMoments?.[0]?.at);
      const ofNode = seen.get(node) ?? [];
      ofNode.push({ ...gpu, faults, ...(speaking.has(key) ? {} : { isSilent: true }) });
      seen.set(node, ofNode);
    }
  }
  return seen;
}

/** Resolves faults that are present at the first moment. They began before it, and may have ended by then. */
async function beganBefore(
  store: StoreClient,
  cluster: string,
  gpu: GpuOfNode,
  faults: readonly SeenFault[],
  first: number | undefined,
): Promise<readonly SeenFault[]> {
  if (faults.length === 0) return faults;
  const resolved: SeenFault[] = [];
  for (const fault of faults) {
    if (fault.from !== first) resolved.push(fault);
    else {
      const { onset, isOver } = await readOnset(store, cluster, gpu, { code: fault.code, before: fault.from });
      if (!isOver) resolved.push({ ...fault, from: onset });
    }
  }
  return resolved;
}

/**
 * Returns when a GPU existed that is known only from samples: from its first sample, through gaps of up to `absentAfterMillis`. A longer
 * gap ends it at the end of the time that its last sample covers.
 */
function livesOf(
  moments: readonly SampleMoment[],
  next: number | undefined,
  { asOf, absentAfterMillis }: RecordWindow,
): readonly Span[] {
  const lives: { from: number; until: number }[] = [];
  let last: SampleMoment | undefined;
  for (const moment of moments) {
    if (last === undefined || moment.at - last.at > absentAfterMillis) {
      if (last !== undefined) lives.at(-1)!.until = last.at + last.reachMillis;
      lives.push({ from: moment.at, until: Infinity });
    }
    last = moment;
  }
  if (last !== undefined && (next ?? asOf) - last.at > absentAfterMillis)
    lives.at(-1)!.until = last.at + last.reachMillis;
  return lives;
}
