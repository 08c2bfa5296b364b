import type { Holding } from "../../../domain/holding.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { withEarliestLayouts } from "../plan/layouts.ts";
import type { Machine, NodeRecord, ProvenLabel, SeenFault, SeenGpu, Span } from "../plan/node-record.ts";
import { withPhysicalGpus } from "../plan/physical.ts";
import type { ClusterRecord } from "./read-cluster.ts";
import { readProofs } from "./proofs.ts";
import type { FactsOfNodes } from "./read-facts.ts";
import { readNamesakes } from "./read-pods.ts";
import { placeKey, readFirstMoments, readGroups, readLastMoments, readMoments, readOnset } from "./read-samples.ts";
import { grouped, readEarlier, readLater, readLongAgo } from "./read-silent.ts";
import type { GpuPlace, SampleGroup, SampleMoment } from "../plan/samples.ts";
import { needsMoments, seenGpu, type Namesakes } from "../plan/sightings.ts";

/** A window as records are read for it. */
export interface RecordWindow extends Span {
  /** How far samples from before reach into it. */
  readonly reachMillis: number;
  /** Up to when everything is known that was said: what is silent so far may only be late after it. */
  readonly asOf: number;
  /** Without Kubernetes a slot ends after so long without a sample. */
  readonly absentAfterMillis: number;
}

/** A node by its name, and whether no Kubernetes has ever told of it. */
export interface NamedNode {
  readonly node: string;
  readonly isBare: boolean;
}

/** The nodes of a cluster of which anything is said that can touch a window, by name. */
export function readNodeNames(
  store: StoreClient,
  cluster: string,
  { from, until, absentAfterMillis }: RecordWindow,
): Promise<readonly NamedNode[]> {
  return store.query<NamedNode>(
    `SELECT node, toBool(min(bare)) AS isBare FROM (
       SELECT node, 0 AS bare FROM inventory_facts WHERE cluster = {cluster:String}
       UNION ALL
       SELECT node, 1 AS bare FROM scrapes WHERE cluster = {cluster:String} AND devices > 0
         AND scraped_at >= fromUnixTimestamp64Milli({from:Int64}) AND scraped_at < fromUnixTimestamp64Milli({until:Int64})
     ) WHERE node != '' GROUP BY node ORDER BY node`,
    { cluster, from: from - absentAfterMillis, until },
  );
}

/** What records are made of beside what is read for them. */
interface KnownAround extends Pick<SeenWindow, "window" | "looked"> {
  readonly ofCluster: ClusterRecord;
  /** What facts tell of the nodes. */
  readonly facts: Promise<FactsOfNodes>;
}

/** What is known of some nodes around a window, from facts and samples in the store. */
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

/** The pods that labels name. */
interface Names {
  readonly namesakes: Namesakes;
  /** Asks for the bound pods of all names that rows show and that were not asked for yet. */
  learn(rows: readonly { readonly namespace: string; readonly pod: string }[]): Promise<void>;
}

/** Names of which the pods that hold on some nodes are known. */
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
  /** The window, and as far back as samples reach into it. */
  readonly looked: Span;
}

/** The GPUs that samples show of each node; of those that changed, moment by moment. */
async function readSeen(
  store: StoreClient,
  cluster: string,
  { groups, nodes, bare, machines, names, proven, window, looked }: SeenWindow,
): Promise<ReadonlyMap<string, readonly SeenGpu[]>> {
  const byGpu = grouped(groups);
  const speaking = new Set(byGpu.keys());
  const before = { from: looked.from - window.absentAfterMillis, until: looked.from };
  const isBare = new Set(bare);
  // What a GPU was cut into later can be what a pod of the window has.
  const isCutLater = ({ node, gpu }: SampleGroup): boolean =>
    (proven.get(node) ?? []).some(({ slot, part, at }) => at >= window.until && part !== "" && String(slot) === gpu);
  for (const [key, earlier] of await readEarlier(store, cluster, { byGpu, nodes, bare, machines, before }))
    byGpu.set(key, earlier);
  const special = [...byGpu.values()].flatMap((ofGpu) => {
    const { node, gpuKey } = ofGpu[0]!;
    const isAfterwards = isBare.has(node) || isCutLater(ofGpu[0]!);
    return isAfterwards || needsMoments(ofGpu, names.namesakes, looked) ? [{ node, gpuKey, isAfterwards }] : [];
  });
  const moments = new Map<string, SampleMoment[]>(special.map((place) => [placeKey(place), []]));
  const last = await readLastMoments(store, cluster, special, before);
  await names.learn(last);
  for (const moment of last) moments.get(placeKey(moment))!.push(moment);
  for (const moment of await readMoments(store, cluster, special, looked)) moments.get(placeKey(moment))!.push(moment);
  const after = { from: window.until, until: window.until + window.absentAfterMillis };
  const afterwards = special.filter(({ isAfterwards }) => isAfterwards);
  const firsts = await readFirstMoments(store, cluster, afterwards, after);
  const next = new Map(firsts.map((moment) => [placeKey(moment), moment.at]));
  for (const moment of firsts) if (!isBare.has(moment.node)) moments.get(placeKey(moment))!.push(moment);
  for (const ofGpu of await readLongAgo(store, cluster, { byGpu, machines, until: before.from }))
    byGpu.set(placeKey(ofGpu[0]!), ofGpu);
  for (const ofGpu of await readLater(store, cluster, { byGpu, machines, after }))
    byGpu.set(placeKey(ofGpu[0]!), ofGpu);

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

/** Faults that the first moment shows began before it, and may be over by then. */
async function beganBefore(
  store: StoreClient,
  cluster: string,
  place: GpuPlace,
  faults: readonly SeenFault[],
  first: number | undefined,
): Promise<readonly SeenFault[]> {
  if (faults.length === 0) return faults;
  const resolved: SeenFault[] = [];
  for (const fault of faults) {
    if (fault.from !== first) resolved.push(fault);
    else {
      const { onset, isOver } = await readOnset(store, cluster, place, { code: fault.code, before: fault.from });
      if (!isOver) resolved.push({ ...fault, from: onset });
    }
  }
  return resolved;
}

/**
 * When a GPU was there that samples alone tell of: from the first of them, through gaps of up to `absentAfterMillis`; longer ones end it
 * where the last sample's word ends.
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
