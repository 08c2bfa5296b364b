import { groupedBy } from "../../../domain/grouped.ts";
import type { Holding } from "../../../domain/holding.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { AROUND_SPANS, bySpan, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";
import { withEarliestLayouts } from "../plan/layouts.ts";
import type { Machine, NodeRecord, ProvenLabel, SeenFault, SeenGpu, Span } from "../plan/node-record.ts";
import { withPhysicalGpus } from "../plan/physical.ts";
import type { ClusterRecord } from "../plan/cluster-record.ts";
import type { Findings } from "./findings.ts";
import { newlyProven } from "../plan/proven.ts";
import { proofKey, readProofs, shareProofs } from "./proofs.ts";
import type { FactsOfNodes } from "./read-facts.ts";
import { readNamesakes } from "./read-pods.ts";
import { livesOf, readImportEnds } from "./bare-lives.ts";
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
  /** The facts of the nodes, and maybe of others. */
  readonly facts: FactsOfNodes;
}

/** The records of some nodes, with what the window has found out about other hours. */
export interface ReadRecords extends Findings {
  readonly records: readonly NodeRecord[];
}

/**
 * Reads the records of some nodes around a window, from facts and samples in the store, and stores what the samples prove. Fails with a
 * `StoreError`.
 */
export async function readRecords(
  store: StoreClient,
  cluster: string,
  named: readonly NamedNode[],
  { window, looked, ofCluster, facts }: KnownAround,
): Promise<ReadRecords> {
  const nodes = named.map(({ node }) => node);
  const machines = new Map(nodes.map((node) => [node, facts.machines.get(node) ?? []]));
  const pods = new Map(nodes.map((node) => [node, facts.pods.get(node)!]));
  const groups = await readGroups(store, cluster, nodes, looked);
  const here = [...pods.values()].flatMap((ofNode) => [...ofNode.values()].map(({ holding }) => holding));
  const names = createNames(store, cluster, here);
  await names.learn(groups);
  const bare = named.filter(({ isBare }) => isBare).map(({ node }) => node);
  const before = await readProofs(store, cluster, pods);
  const recordsOf = (
    seen: ReadonlyMap<string, readonly SeenGpu[]>,
    proven: ReadonlyMap<string, readonly ProvenLabel[]>,
  ): readonly NodeRecord[] =>
    named.map(({ node, isBare }) =>
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
    );
  const gpus = await readGpus(store, cluster, { groups, nodes, bare, machines, window, looked });
  const found = recordsOf(labelledGpus(gpus, names), before).flatMap((record) =>
    newlyProven(record).map((one) => ({ node: record.node, ...one })),
  );
  const own = found.flatMap(({ node, holding: { from, until }, labels }) =>
    labels.map((label) => ({ from, until, label: { node, ...label } })),
  );
  const shared = await shareProofs(
    store,
    cluster,
    own.map(({ label }) => label),
  );
  const news = groupedBy(shared, ({ node }) => node);
  const proven = new Map(nodes.map((node) => [node, [...(before.get(node) ?? []), ...(news.get(node) ?? [])]]));
  const seen = await readSeen(store, cluster, { gpus, bare, names, proven, window, looked });
  return {
    records: recordsOf(seen, proven).map(withEarliestLayouts),
    discovered: own.map(({ from, until, label }) => ({ from, until, proof: proofKey(label) })),
    proofs: new Set(shared.map(proofKey)),
  };
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
  readonly window: RecordWindow;
  /** The window, extended back by the reach of samples. */
  readonly looked: Span;
  /** The nodes that Kubernetes never reported. */
  readonly bare: readonly string[];
}

/** The samples of the GPUs of some nodes around a window, in groups, by {@link gpuOfNodeKey}. */
interface GpusOfNodes {
  readonly byGpu: ReadonlyMap<string, readonly SampleGroup[]>;
  /** The GPUs with samples in the window, and those with samples in the window or on the day before it. */
  readonly speaking: ReadonlySet<string>;
  readonly recent: ReadonlySet<string>;
}

/** Reads the samples of the GPUs of some nodes. GPUs without samples in the window have those of another time. */
async function readGpus(
  store: StoreClient,
  cluster: string,
  of: SeenWindow & {
    readonly groups: readonly SampleGroup[];
    readonly nodes: readonly string[];
    readonly machines: ReadonlyMap<string, readonly Machine[]>;
  },
): Promise<GpusOfNodes> {
  const { groups, nodes, bare, machines, window, looked } = of;
  const byGpu = new Map(grouped(groups));
  const speaking = new Set(byGpu.keys());
  const before = { from: looked.from - window.absentAfterMillis, until: looked.from };
  for (const [key, earlier] of await readEarlier(store, cluster, { byGpu, nodes, bare, machines, before }))
    byGpu.set(key, earlier);
  const recent = new Set(byGpu.keys());
  const after = { from: window.until, until: window.until + window.absentAfterMillis };
  for (const ofGpu of await readLongAgo(store, cluster, { byGpu, machines, until: before.from }))
    byGpu.set(gpuOfNodeKey(ofGpu[0]!), ofGpu);
  for (const ofGpu of await readLater(store, cluster, { byGpu, machines, after }))
    byGpu.set(gpuOfNodeKey(ofGpu[0]!), ofGpu);
  return { byGpu, speaking, recent };
}

/** Returns the GPUs of each node as groups alone show them. Their labels are complete. */
function labelledGpus({ byGpu }: GpusOfNodes, names: Names): ReadonlyMap<string, readonly SeenGpu[]> {
  const gpus = [...byGpu.values()].flatMap((groups) => {
    const gpu = seenGpu({ groups, moments: undefined }, names.namesakes, undefined);
    return gpu === undefined ? [] : [{ node: groups[0]!.node, gpu }];
  });
  const byNode = groupedBy(gpus, ({ node }) => node);
  return new Map([...byNode].map(([node, ofNode]) => [node, ofNode.map(({ gpu }) => gpu)]));
}

/** Reads the GPUs in the samples of each node. GPUs that changed are read moment by moment. */
async function readSeen(
  store: StoreClient,
  cluster: string,
  of: SeenWindow & {
    readonly gpus: GpusOfNodes;
    readonly names: Names;
    readonly proven: ReadonlyMap<string, readonly ProvenLabel[]>;
  },
): Promise<ReadonlyMap<string, readonly SeenGpu[]>> {
  const { gpus, bare, names, proven, window, looked } = of;
  const { byGpu, speaking, recent } = gpus;
  const isBare = new Set(bare);
  // Instances that a GPU was cut into later can be those that a pod of the window has.
  const isCutLater = ({ node, gpu }: SampleGroup): boolean =>
    (proven.get(node) ?? []).some(({ slot, part, at }) => at >= window.until && part !== "" && String(slot) === gpu);
  const special = [...recent].flatMap((key) => {
    const ofGpu = byGpu.get(key)!;
    const { node, gpuKey } = ofGpu[0]!;
    const isAfterwards = isBare.has(node) || isCutLater(ofGpu[0]!);
    return isAfterwards || needsMoments(ofGpu, names.namesakes, looked) ? [{ node, gpuKey, isAfterwards }] : [];
  });
  const moments = new Map<string, SampleMoment[]>(special.map((gpu) => [gpuOfNodeKey(gpu), []]));
  const before = { from: looked.from - window.absentAfterMillis, until: looked.from };
  const last = await readLastMoments(store, cluster, special, before);
  await names.learn(last);
  for (const moment of last) moments.get(gpuOfNodeKey(moment))!.push(moment);
  for (const moment of await readMoments(store, cluster, special, looked))
    moments.get(gpuOfNodeKey(moment))!.push(moment);
  const after = { from: window.until, until: window.until + window.absentAfterMillis };
  const afterwards = special.filter(({ isAfterwards }) => isAfterwards);
  const firsts = await readFirstMoments(store, cluster, afterwards, after);
  const next = new Map(firsts.map((moment) => [gpuOfNodeKey(moment), moment.at]));
  const importEnds = await readImportEnds(store, cluster, bare, { from: before.from, until: after.until });
  for (const moment of firsts) if (!isBare.has(moment.node)) moments.get(gpuOfNodeKey(moment))!.push(moment);

  const seen = new Map<string, SeenGpu[]>();
  for (const [key, ofGpu] of byGpu) {
    const { node } = ofGpu[0]!;
    const ofMoments = moments.get(key);
    const lives = isBare.has(node)
      ? livesOf(ofMoments ?? [], { ...window, next: next.get(key), importEnd: importEnds.get(node) })
      : [undefined];
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
