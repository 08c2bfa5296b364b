import { holdingOf, type Holding } from "../domain/holding.ts";
import type { InventoryFact } from "../domain/inventory.ts";
import { countOf, isGuess, strongestCount } from "../domain/share/node-gpus.ts";
import { clusterRecordOf } from "../processors/ledger/plan/cluster-record.ts";
import { withEarliestLayouts } from "../processors/ledger/plan/layouts.ts";
import type { Machine, NodeRecord, RecordedPod, SeenGpu } from "../processors/ledger/plan/node-record.ts";
import { withPhysicalGpus } from "../processors/ledger/plan/physical.ts";
import { recordedPod } from "../processors/ledger/plan/recorded-pod.ts";
import { seenGpu, type Namesakes } from "../processors/ledger/plan/sightings.ts";
import type { SeenFacts } from "./facts.ts";
import { grouped } from "./grouped.ts";
import { groupsOf, momentsOf, type Sample } from "./samples.ts";

/**
 * Returns the record of each node with facts or samples, sorted by name: the input of the meter's plan. The state at the time of the snapshot
 * holds from then on.
 */
export function recordsOf(
  { nodes, pods, cluster: facts }: SeenFacts,
  samples: readonly Sample[],
  { cluster, atMillis }: { readonly cluster: string; readonly atMillis: number },
): readonly NodeRecord[] {
  const ofCluster = clusterRecordOf(facts.map((fact) => ({ fact, from: -Infinity })));
  const holdings = pods.flatMap((fact) => {
    const holding = holdingOf(fact);
    return holding === undefined || holding.until <= atMillis ? [] : [{ fact, holding }];
  });
  const members = pods.filter(({ gang }) => gang !== undefined);
  const podsOn = new Map<string, Map<string, RecordedPod>>();
  const byName = new Map<string, Holding[]>();
  for (const { fact, holding } of holdings) {
    const ofNode = podsOn.get(holding.node) ?? new Map<string, RecordedPod>();
    podsOn.set(holding.node, ofNode.set(fact.uid, recordedPod(fact, holding, fact.gang === undefined ? [] : members)));
    const name = `${fact.namespace}/${fact.name}`;
    byName.set(name, [...(byName.get(name) ?? []), holding]);
  }
  const inventory = new Map(nodes.map((fact) => [fact.node, fact]));
  const seen = seenGpus(samples, (namespace, pod) => byName.get(`${namespace}/${pod}`) ?? [], inventory);
  const names = [...new Set([...inventory.keys(), ...seen.keys()])].toSorted();
  return names.map((node) => {
    const fact = inventory.get(node);
    return withEarliestLayouts(
      withPhysicalGpus({
        cluster,
        node,
        isBare: fact === undefined,
        machines: fact === undefined ? [] : [machineOf(fact)],
        pods: podsOn.get(node) ?? new Map(),
        claimed: ofCluster.claimed,
        namespace: ofCluster.namespace,
        slices: ofCluster.slicesOf(node),
        taints: ofCluster.taintsOf(node),
        seen: seen.get(node) ?? [],
        proven: [],
      }),
    );
  });
}

function machineOf(fact: InventoryFact): Machine {
  const { uid, joined, gpus } = fact;
  const by = gpus[0]?.countedBy ?? "label";
  const strongest = strongestCount([{ by, count: countOf(gpus) }]);
  return {
    uid,
    from: joined,
    until: Infinity,
    most: strongest?.count ?? 0,
    ...(strongest === undefined || isGuess(strongest.by) ? { isGuess: true as const } : {}),
    states: [{ from: joined, until: Infinity, fact, describedSince: joined }],
  };
}

/** Returns the GPUs in the samples of each node. */
function seenGpus(
  samples: readonly Sample[],
  namesakes: Namesakes,
  inventory: ReadonlyMap<string, InventoryFact>,
): ReadonlyMap<string, readonly SeenGpu[]> {
  const gpuOf = ({ node, gpuKey }: { readonly node: string; readonly gpuKey: string }) => [node, gpuKey];
  const moments = grouped(momentsOf(samples), gpuOf);
  const seen = new Map<string, SeenGpu[]>();
  for (const [key, groups] of grouped(groupsOf(samples), gpuOf)) {
    const [{ node }] = groups;
    // A node without an object counts as joined at the epoch, like one whose object has no time.
    const life = inventory.has(node) ? undefined : { from: 0, until: Infinity };
    const gpu = seenGpu({ groups, moments: moments.get(key) }, namesakes, life);
    if (gpu !== undefined) seen.set(node, [...(seen.get(node) ?? []), gpu]);
  }
  return seen;
}
