import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { FactEnd, FactOrigin } from "../../../domain/fact.ts";
import { holdingOf, type Holdings } from "../../../domain/holding.ts";
import { clusterFactKey, inventoryKey, workloadKey } from "../../../domain/messages/fact-message.ts";
import { MINUTE_MILLIS } from "../../../domain/time.ts";
import { createClusterIndex, type ClusterIndex } from "./cluster.ts";
import type { FactListener } from "../followed-facts.ts";
import { createNewest } from "./newest.ts";

/** How long a deleted pod stays known, by the time of its cluster's facts, so that late samples can be joined. */
export const GONE_KNOWN_MILLIS = 15 * MINUTE_MILLIS;
const SWEEP_MILLIS = 60_000;

/**
 * An index of the holders in all clusters, built from facts. The same facts give the same answers in any order and however often they are
 * replayed: the newest fact of each object counts.
 */
export interface HoldingsIndex extends Holdings, FactListener {
  /** Takes a claim or a slice. Other cluster facts are ignored, because they do not concern devices. */
  clusterFact(fact: ClusterFact): void;
  /** Removes an object by its key on the topic. A pod that has ended stays as long as late samples may need it. */
  tombstone(of: "workload" | "inventory" | "cluster", key: string): void;
}

interface Known {
  readonly index: ClusterIndex;
  /** The end times of deleted pods, by UID. */
  readonly gone: Map<string, number>;
  /** The latest time of any fact of this cluster. */
  clock: number;
  /** Pods that ended before this time have been removed. */
  horizon: number;
}

/** Creates an empty index. A fact costs microseconds; a known pod takes less than 2 kB. */
export function createHoldings(): HoldingsIndex {
  const newest = createNewest();
  const clusters = new Map<string, Known>();

  function known(name: string): Known {
    let cluster = clusters.get(name);
    if (cluster === undefined) {
      cluster = { index: createClusterIndex(), gone: new Map(), clock: -Infinity, horizon: -Infinity };
      clusters.set(name, cluster);
    }
    return cluster;
  }

  /** Returns the cluster index for a fact; undefined if a newer fact of its object is known. The cluster's clock advances in both cases. */
  function take(key: string, fact: FactOrigin & { readonly end?: FactEnd }): ClusterIndex | undefined {
    const cluster = known(fact.cluster);
    cluster.clock = Math.max(cluster.clock, fact.seenAtMillis, fact.end?.atMillis ?? -Infinity);
    const horizon = Math.floor((cluster.clock - GONE_KNOWN_MILLIS) / SWEEP_MILLIS) * SWEEP_MILLIS;
    if (horizon > cluster.horizon) {
      cluster.horizon = horizon;
      for (const [uid, at] of cluster.gone) if (at < horizon) forget(cluster, uid);
    }
    return newest.take(key, fact) ? cluster.index : undefined;
  }

  function forget({ gone, index }: Known, uid: string): void {
    gone.delete(uid);
    index.putPod(uid, undefined);
  }

  return {
    cluster: (name) => known(name).index,
    workload(fact) {
      if (take(workloadKey(fact), fact) === undefined) return;
      const cluster = known(fact.cluster);
      const goneAt = fact.end?.atMillis;
      if (goneAt !== undefined && goneAt < cluster.horizon) return forget(cluster, fact.uid);
      if (goneAt === undefined) cluster.gone.delete(fact.uid);
      else cluster.gone.set(fact.uid, goneAt);
      cluster.index.putPod(fact.uid, holdingOf(fact));
    },
    inventory(fact) {
      take(inventoryKey(fact), fact)?.putGpus(fact.node, fact.end === undefined ? fact.gpus : []);
    },
    clusterFact(fact) {
      const { uid, namespace, name, end } = fact;
      if (fact.kind === "ResourceClaim") {
        const claim = { namespace, name, body: fact.body };
        take(clusterFactKey(fact), fact)?.putClaim(uid, end === undefined ? claim : undefined);
      } else if (fact.kind === "ResourceSlice") {
        const slice = { order: fact, body: fact.body };
        take(clusterFactKey(fact), fact)?.putSlice(uid, end === undefined ? slice : undefined);
      }
    },
    tombstone(of, key) {
      const [name, part = "", uid = ""] = partsOf(key);
      const cluster = name === undefined ? undefined : clusters.get(name);
      if (cluster === undefined) return;
      newest.forget(key);
      if (of === "inventory") cluster.index.putGpus(part, []);
      else if (of === "workload" && !cluster.gone.has(part)) cluster.index.putPod(part, undefined);
      else if (of === "cluster" && part === "ResourceClaim") cluster.index.putClaim(uid, undefined);
      else if (of === "cluster" && part === "ResourceSlice") cluster.index.putSlice(uid, undefined);
    },
  };
}

function partsOf(key: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(key);
    return Array.isArray(parts) ? parts.filter((part) => typeof part === "string") : [];
  } catch {
    return [];
  }
}
