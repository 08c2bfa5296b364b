import type { Rational } from "../../domain/exact/rational.ts";
import { createClaims, type Claims } from "../../domain/attribution/claims.ts";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { clusterFactKey, inventoryKey, workloadKey } from "../../domain/messages/fact-message.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import { NO_WORKLOAD, podMarks, type OwnerSubject } from "../../domain/owner/owner.ts";
import type { Marks } from "../../domain/marks.ts";
import { ownersOf } from "../../domain/owner/owners.ts";
import { regimesOf, type Regime } from "../../domain/regime.ts";
import type { MigMeasure } from "../../domain/share/mig-shape.ts";
import type { WorkloadFact, WorkloadType } from "../../domain/workload.ts";
import type { FactListener } from "../ingest/followed-facts.ts";
import { createNewest } from "../ingest/holdings/newest.ts";
import { heldGpus } from "./held-gpus.ts";
import { createLiveNodes, type LiveNodes } from "./live-nodes.ts";
import { createNodeVersions, type NodeVersions } from "./node-versions.ts";

/** The owner of a workload: the values of its labels on metrics. */
export interface LiveOwner {
  readonly namespace: string;
  readonly workload: string;
  readonly type: WorkloadType;
  readonly team: string;
  /** Empty if no rule names one. */
  readonly costCenter: string;
  readonly queue: string;
}

/** A pod that holds GPUs now, with its owner and its share of the node. */
export interface LivePod extends LiveOwner {
  readonly cluster: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  /** GPUs held; 1 is a whole GPU. */
  readonly gpus: Rational;
  /** The number of devices that it requests, or has through claims; 0 while those of its claims are unknown. */
  readonly devices: number;
  /** True if it has a part of a device through a claim of capacity. */
  readonly consumes: boolean;
  /** The regimes in which the pod holds them. */
  readonly regimes: readonly Regime[];
}

/** The pods that hold GPUs and the nodes that have GPUs, built from facts. */
export interface LivePods extends FactListener {
  /**
   * Records the number of distinct GPUs in a node's samples. The highest number counts. Returns whether the node or its pods have changed.
   */
  show(cluster: string, node: string, gpus: number): boolean;
  /** Returns the nodes with GPUs that belong to this instance. */
  nodes(isOwn: IsOwn): readonly InventoryFact[];
  /** Returns the pods that are bound to nodes of this instance. */
  pods(isOwn: IsOwn): readonly LivePod[];
  /** Returns a node with GPUs; undefined if no fact of it exists. */
  node(cluster: string, node: string): InventoryFact | undefined;
  /** Returns the pods that are bound to a node of any instance. */
  podsOn(cluster: string, node: string): readonly LivePod[];
  /** Returns the owner of a holder without a fact, by its namespace alone. */
  strangerOf(cluster: string, namespace: string, name: string): LiveOwner;
  /** Returns a number that changes whenever the node or its pods may have changed. */
  version(cluster: string, node: string): number;
}

/** Returns whether a node belongs to one of this instance's partitions. */
export type IsOwn = (cluster: string, node: string) => boolean;

/** The state of a view. Pods have the keys of `workloadKey`, nodes those of `inventoryKey`. */
interface LiveState {
  readonly owners: OwnerRules;
  readonly measure: MigMeasure;
  readonly now: () => number;
  readonly pods: Map<string, WorkloadFact>;
  /** The pods of each node. */
  readonly podsOf: Map<string, Set<string>>;
  readonly nodes: LiveNodes;
  readonly namespaces: Map<string, { readonly key: string; readonly marks: Marks }>;
  /** The claims of each cluster. */
  readonly claims: Map<string, Claims>;
  readonly versions: NodeVersions;
}

/** Creates a view without pods. The newest fact of each object counts, in any order of arrival. */
export function createLivePods(owners: OwnerRules, measure: MigMeasure, now: () => number): LivePods {
  const newest = createNewest();
  const [nodes, versions] = [createLiveNodes(), createNodeVersions()];
  const state: LiveState = {
    owners,
    measure,
    now,
    pods: new Map(),
    podsOf: new Map(),
    nodes,
    namespaces: new Map(),
    claims: new Map(),
    versions,
  };
  const { pods, podsOf, namespaces } = state;
  let rulesHeld = -1;

  return {
    workload(fact) {
      const key = workloadKey(fact);
      if (!newest.take(key, fact)) return;
      const isOver = fact.end !== undefined || fact.phase === "Succeeded" || fact.phase === "Failed";
      drop(state, key);
      if (!isOver && fact.node !== "" && fact.asks.length > 0) keep(state, key, fact);
    },
    inventory(fact) {
      const key = inventoryKey(fact);
      if (!newest.take(key, fact)) return;
      if (fact.end === undefined) nodes.put(key, fact);
      else nodes.remove(key);
      touch(state, key);
    },
    clusterFact(fact) {
      if (fact.kind !== "Namespace" && fact.kind !== "ResourceClaim" && fact.kind !== "ResourceSlice") return;
      const key = clusterFactKey(fact);
      if (!newest.take(key, fact)) return;
      if (fact.kind !== "Namespace") return takeDevices(state, fact);
      const namespaceKey = namespaceKeyOf(fact.cluster, fact.name);
      if (fact.end === undefined) namespaces.set(namespaceKey, { key, marks: fact.body });
      // A re-created namespace is another object with the same name.
      else if (namespaces.get(namespaceKey)?.key === key) namespaces.delete(namespaceKey);
      versions.changedAll();
    },
    tombstone(_, key) {
      newest.forget(key);
      drop(state, key);
      if (nodes.remove(key)) touch(state, key);
    },
    show(cluster, node, gpus) {
      const key = inventoryKey({ cluster, node });
      const isOther = nodes.show(key, gpus);
      if (isOther) touch(state, key);
      return isOther;
    },
    nodes: (isOwn) => [...nodes.all.values()].filter(({ cluster, node }) => isOwn(cluster, node)),
    pods: (isOwn) =>
      [...pods.values()].filter(({ cluster, node }) => isOwn(cluster, node)).map((fact) => podOf(state, fact)),
    node: (cluster, node) => nodes.all.get(inventoryKey({ cluster, node })),
    podsOn: (cluster, node) =>
      [...(podsOf.get(inventoryKey({ cluster, node })) ?? [])].map((key) => podOf(state, pods.get(key)!)),
    strangerOf: (cluster, namespace, name) =>
      ownerOf(state, cluster, { ...NO_WORKLOAD, namespace, workload: name, pool: "" }, "other"),
    version(cluster, node) {
      const at = now();
      const held = owners.changes.findLastIndex((since) => since <= at);
      if (held !== rulesHeld) versions.changedAll();
      rulesHeld = held;
      return versions.of(inventoryKey({ cluster, node }));
    },
  };
}

function namespaceKeyOf(cluster: string, namespace: string): string {
  return JSON.stringify([cluster, namespace]);
}

function ownerOf(
  { owners, namespaces, now }: LiveState,
  cluster: string,
  of: Omit<OwnerSubject, "namespaceMarks">,
  type: WorkloadType,
): LiveOwner {
  const { namespace, workload, queue } = of;
  const namespaceMarks = namespaces.get(namespaceKeyOf(cluster, namespace))?.marks;
  const { team, costCenter } = ownersOf(owners, { ...of, namespaceMarks }, now()).owners;
  return { namespace, workload, type, team: team.value, costCenter: costCenter.value, queue };
}

function podOf(state: LiveState, fact: WorkloadFact): LivePod {
  const { pods, nodes, measure } = state;
  const { cluster, namespace, name, uid, node, queue = "", asks, type } = fact;
  const on = nodes.all.get(inventoryKey({ cluster, node }));
  const gpus = on?.gpus ?? [];
  const subject = { namespace, workload: fact.workload.name, queue, pool: on?.pool ?? "", ...podMarks(fact) };
  const { team, costCenter, workload } = ownerOf(state, cluster, subject, type);
  const claims = claimsOf(state, cluster);
  const claimed = claims.of(uid);
  // All fields are listed because there are very many pods: copying the owner object would take twice as long.
  return {
    cluster,
    namespace,
    name,
    uid,
    node,
    team,
    costCenter,
    workload,
    type,
    queue,
    gpus: heldGpus(asks, gpus, measure, (claim) => ({
      devices: claimed.filter((one) => one.claim === claim),
      sharers: claims.sharersOf(uid, claim).filter((pod) => pods.has(workloadKey({ cluster, uid: pod }))).length,
    })),
    devices: asks.reduce((sum, ask) => (ask.kind === "claim" ? sum : sum + ask.count), claimed.length),
    consumes: claimed.some(({ consumed }) => consumed !== undefined),
    regimes: regimesOf(asks, gpus[0]?.sharing),
  };
}

function claimsOf({ claims }: LiveState, cluster: string): Claims {
  const found = claims.get(cluster) ?? createClaims();
  claims.set(cluster, found);
  return found;
}

/** Takes a claim or a slice, or its end. The nodes of its pods have changed. */
function takeDevices(state: LiveState, fact: ClusterFact): void {
  const { cluster, uid, namespace, name, end } = fact;
  const claims = claimsOf(state, cluster);
  const isOver = end !== undefined;
  const concerned =
    fact.kind === "ResourceClaim"
      ? claims.putClaim(uid, isOver ? undefined : { namespace, name, body: fact.body })
      : fact.kind === "ResourceSlice"
        ? claims.putSlice(uid, isOver ? undefined : { order: fact, body: fact.body })
        : [];
  for (const podUid of concerned) {
    const pod = state.pods.get(workloadKey({ cluster, uid: podUid }));
    if (pod !== undefined) touch(state, inventoryKey(pod));
  }
}

function keep({ pods, podsOf, versions }: LiveState, key: string, fact: WorkloadFact): void {
  pods.set(key, fact);
  const nodeKey = inventoryKey(fact);
  podsOf.set(nodeKey, (podsOf.get(nodeKey) ?? new Set()).add(key));
  versions.changed(nodeKey);
}

function drop(state: LiveState, key: string): void {
  const { pods, podsOf } = state;
  const fact = pods.get(key);
  if (fact === undefined) return;
  pods.delete(key);
  const nodeKey = inventoryKey(fact);
  podsOf.get(nodeKey)?.delete(key);
  if (podsOf.get(nodeKey)?.size === 0) podsOf.delete(nodeKey);
  touch(state, nodeKey);
}

/** Records a change of a node. A node without pods and without a fact is removed. */
function touch({ podsOf, nodes, versions }: LiveState, nodeKey: string): void {
  if (podsOf.has(nodeKey) || nodes.all.has(nodeKey)) versions.changed(nodeKey);
  else versions.forget(nodeKey);
}
