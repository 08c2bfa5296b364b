import type { Rational } from "../../domain/exact/rational.ts";
import { createClaims, type Claims } from "../../domain/attribution/claims.ts";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { clusterFactKey, inventoryKey, workloadKey } from "../../domain/messages/fact-message.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import { NO_WORKLOAD, podMarks, type OwnerSubject } from "../../domain/owner/owner.ts";
import type { Marks } from "../../domain/marks.ts";
import { withShown } from "../../domain/share/node-gpus.ts";
import { ownersOf } from "../../domain/owner/owners.ts";
import { regimesOf, type Regime } from "../../domain/regime.ts";
import type { MigMeasure } from "../../domain/share/mig-shape.ts";
import type { WorkloadFact, WorkloadType } from "../../domain/workload.ts";
import type { FactListener } from "../ingest/followed-facts.ts";
import { createNewest } from "../ingest/holdings/newest.ts";
import { heldGpus } from "./held-gpus.ts";

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

/** Creates a view without pods. The newest fact of each object counts, in any order of arrival. */
export function createLivePods(owners: OwnerRules, measure: MigMeasure, now: () => number): LivePods {
  const newest = createNewest();
  const pods = new Map<string, WorkloadFact>();
  /** `facts` has nodes as their objects describe them, `shown` has the most GPUs in samples of each node, and `nodes` combines both. */
  const facts = new Map<string, InventoryFact>();
  const shown = new Map<string, number>();
  const nodes = new Map<string, InventoryFact>();
  const namespaces = new Map<string, { readonly key: string; readonly marks: Marks }>();
  const claimsIn = new Map<string, Claims>();
  const podsOf = new Map<string, Set<string>>();
  /** `changes` has the last change of each node, `changedAll` the last change of all nodes. Changes are numbered. */
  const changes = new Map<string, number>();
  let change = 0;
  let changedAll = 0;
  let rulesHeld = -1;
  const namespaceKeyOf = (cluster: string, namespace: string): string => JSON.stringify([cluster, namespace]);

  function ownerOf(cluster: string, of: Omit<OwnerSubject, "namespaceMarks">, type: WorkloadType): LiveOwner {
    const { namespace, workload, queue } = of;
    const namespaceMarks = namespaces.get(namespaceKeyOf(cluster, namespace))?.marks;
    const { team, costCenter } = ownersOf(owners, { ...of, namespaceMarks }, now()).owners;
    return { namespace, workload, type, team: team.value, costCenter: costCenter.value, queue };
  }

  /** Stores a node with the GPU count from its objects and samples. Returns whether its GPUs have changed. */
  function count(key: string): boolean {
    const fact = facts.get(key);
    if (fact === undefined) return nodes.delete(key);
    const gpus = withShown(fact.gpus, shown.get(key) ?? 0);
    const isOther = JSON.stringify(gpus) !== JSON.stringify(nodes.get(key)?.gpus);
    nodes.set(key, { ...fact, gpus });
    return isOther;
  }

  function podOf(fact: WorkloadFact): LivePod {
    const { cluster, namespace, name, uid, node, queue = "", asks } = fact;
    const on = nodes.get(inventoryKey({ cluster, node }));
    const gpus = on?.gpus ?? [];
    const subject = {
      namespace,
      workload: fact.workload.name,
      queue,
      pool: on?.pool ?? "",
      ...podMarks(fact),
    };
    const { type } = fact;
    const { team, costCenter, workload } = ownerOf(cluster, subject, type);
    const claims = claimsOf(cluster);
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

  function claimsOf(cluster: string): Claims {
    const claims = claimsIn.get(cluster) ?? createClaims();
    claimsIn.set(cluster, claims);
    return claims;
  }

  /** Takes a claim or a slice, or its end. The nodes of its pods have changed. */
  function takeDevices(fact: ClusterFact): void {
    const { cluster, uid, namespace, name, end } = fact;
    const claims = claimsOf(cluster);
    const isOver = end !== undefined;
    const concerned =
      fact.kind === "ResourceClaim"
        ? claims.putClaim(uid, isOver ? undefined : { namespace, name, body: fact.body })
        : fact.kind === "ResourceSlice"
          ? claims.putSlice(uid, isOver ? undefined : { order: fact, body: fact.body })
          : [];
    for (const podUid of concerned) {
      const pod = pods.get(workloadKey({ cluster, uid: podUid }));
      if (pod !== undefined) touch(inventoryKey(pod));
    }
  }

  function keep(key: string, fact: WorkloadFact): void {
    const { cluster, node } = fact;
    drop(key);
    pods.set(key, fact);
    const nodeKey = inventoryKey({ cluster, node });
    podsOf.set(nodeKey, (podsOf.get(nodeKey) ?? new Set()).add(key));
    changes.set(nodeKey, (change += 1));
  }

  function drop(key: string): void {
    const fact = pods.get(key);
    if (fact === undefined) return;
    pods.delete(key);
    const nodeKey = inventoryKey(fact);
    podsOf.get(nodeKey)?.delete(key);
    if (podsOf.get(nodeKey)?.size === 0) podsOf.delete(nodeKey);
    touch(nodeKey);
  }

  function forget(key: string): boolean {
    facts.delete(key);
    shown.delete(key);
    return count(key);
  }

  /** Records a change of a node. A node without pods and without a fact is removed. */
  function touch(nodeKey: string): void {
    change += 1;
    if (podsOf.has(nodeKey) || nodes.has(nodeKey)) changes.set(nodeKey, change);
    else changes.delete(nodeKey);
  }

  return {
    workload(fact) {
      const key = workloadKey(fact);
      if (!newest.take(key, fact)) return;
      const isOver = fact.end !== undefined || fact.phase === "Succeeded" || fact.phase === "Failed";
      if (isOver || fact.node === "" || fact.asks.length === 0) drop(key);
      else keep(key, fact);
    },
    inventory(fact) {
      const key = inventoryKey(fact);
      if (!newest.take(key, fact)) return;
      if (fact.end === undefined) {
        facts.set(key, fact);
        count(key);
      } else forget(key);
      touch(key);
    },
    clusterFact(fact) {
      if (fact.kind !== "Namespace" && fact.kind !== "ResourceClaim" && fact.kind !== "ResourceSlice") return;
      const key = clusterFactKey(fact);
      if (!newest.take(key, fact)) return;
      if (fact.kind !== "Namespace") return takeDevices(fact);
      const namespaceKey = namespaceKeyOf(fact.cluster, fact.name);
      if (fact.end === undefined) namespaces.set(namespaceKey, { key, marks: fact.body });
      // A re-created namespace is another object with the same name.
      else if (namespaces.get(namespaceKey)?.key === key) namespaces.delete(namespaceKey);
      changedAll = change += 1;
    },
    tombstone(_, key) {
      newest.forget(key);
      drop(key);
      if (forget(key)) touch(key);
    },
    show(cluster, node, gpus) {
      const key = inventoryKey({ cluster, node });
      if (gpus <= (shown.get(key) ?? 0)) return false;
      shown.set(key, gpus);
      const isOther = facts.has(key) && count(key);
      if (isOther) touch(key);
      return isOther;
    },
    nodes: (isOwn) => [...nodes.values()].filter(({ cluster, node }) => isOwn(cluster, node)),
    pods: (isOwn) => [...pods.values()].filter(({ cluster, node }) => isOwn(cluster, node)).map(podOf),
    node: (cluster, node) => nodes.get(inventoryKey({ cluster, node })),
    podsOn: (cluster, node) =>
      [...(podsOf.get(inventoryKey({ cluster, node })) ?? [])].map((key) => podOf(pods.get(key)!)),
    strangerOf: (cluster, namespace, name) =>
      ownerOf(cluster, { ...NO_WORKLOAD, namespace, workload: name, pool: "" }, "other"),
    version(cluster, node) {
      const at = now();
      const held = owners.changes.findLastIndex((since) => since <= at);
      if (held !== rulesHeld) changedAll = change += 1;
      rulesHeld = held;
      return Math.max(changedAll, changes.get(inventoryKey({ cluster, node })) ?? 0);
    },
  };
}
