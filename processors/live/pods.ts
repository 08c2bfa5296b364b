import type { Rational } from "../../domain/exact/rational.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { clusterFactKey, inventoryKey, workloadKey } from "../../domain/messages/fact-message.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import { NO_WORKLOAD, podMarks, type Marks, type OwnerSubject } from "../../domain/owner/owner.ts";
import { withShown } from "../../domain/node-gpus.ts";
import { ownersOf } from "../../domain/owner/owners.ts";
import { regimesOf, type Regime } from "../../domain/regime.ts";
import type { MigMeasure } from "../../domain/share/mig-shape.ts";
import type { WorkloadFact, WorkloadType } from "../../domain/workload.ts";
import type { FactListener } from "../ingest/followed-facts.ts";
import { createNewest } from "../ingest/holdings/newest.ts";
import { heldGpus } from "./held-gpus.ts";

/** Whose a workload is: the words of its labels on metrics. */
export interface LiveOwner {
  readonly namespace: string;
  readonly workload: string;
  readonly type: WorkloadType;
  readonly team: string;
  /** Empty where nobody names one. */
  readonly costCentre: string;
  readonly queue: string;
}

/** A pod that holds GPUs now, whose it is, and what of its node it holds. */
export interface LivePod extends LiveOwner {
  readonly cluster: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  /** 1 is a whole GPU. */
  readonly gpus: Rational;
  /** In which ways it holds them. */
  readonly regimes: readonly Regime[];
}

/** The pods that hold GPUs and the nodes that have them, as far as the facts tell that were given. */
export interface LivePods extends FactListener {
  /**
   * Takes how many distinct GPUs the samples of a node show. The most that were ever shown count. Whether anything of the node or its
   * pods is another now.
   */
  show(cluster: string, node: string, gpus: number): boolean;
  /** The nodes of this instance with GPUs. */
  nodes(isOwn: IsOwn): readonly InventoryFact[];
  /** The pods that are bound to nodes of this instance. */
  pods(isOwn: IsOwn): readonly LivePod[];
  /** A node with GPUs; undefined for one of which no fact tells. */
  node(cluster: string, node: string): InventoryFact | undefined;
  /** The pods that are bound to a node, whoever's it is. */
  podsOn(cluster: string, node: string): readonly LivePod[];
  /** Whom a holder of which no fact tells belongs to, by its namespace alone. */
  strangerOf(cluster: string, namespace: string, name: string): LiveOwner;
  /** Another number than before whenever what is said of a node and of its pods can have changed. */
  version(cluster: string, node: string): number;
}

/** Whether a node is one of this instance's partitions. */
export type IsOwn = (cluster: string, node: string) => boolean;

/** A view without any pod. Of each object the newest fact counts, in whatever order they come. */
export function createLivePods(owners: OwnerRules, measure: MigMeasure, now: () => number): LivePods {
  const newest = createNewest();
  const pods = new Map<string, WorkloadFact>();
  /** Nodes as their objects have them, the most GPUs that samples of each have shown, and what comes of both. */
  const facts = new Map<string, InventoryFact>();
  const shown = new Map<string, number>();
  const nodes = new Map<string, InventoryFact>();
  const namespaces = new Map<string, { readonly key: string; readonly marks: Marks }>();
  const podsOf = new Map<string, Set<string>>();
  /** The last change that touched a node, and the last one that touched all of them, in the order of changes. */
  const changes = new Map<string, number>();
  let change = 0;
  let changedAll = 0;
  let rulesHeld = -1;
  const placeOf = (cluster: string, namespace: string): string => JSON.stringify([cluster, namespace]);

  function ownerOf(cluster: string, of: Omit<OwnerSubject, "namespaceMarks">, type: WorkloadType): LiveOwner {
    const { namespace, workload, queue } = of;
    const namespaceMarks = namespaces.get(placeOf(cluster, namespace))?.marks;
    const { team, costCenter } = ownersOf(owners, { ...of, namespaceMarks }, now()).owners;
    return { namespace, workload, type, team: team.value, costCentre: costCenter.value, queue };
  }

  /** Keeps a node with its GPUs as its objects and its samples count them. Whether the GPUs are others than before. */
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
    const { team, costCentre, workload } = ownerOf(cluster, subject, type);
    // Written out, as there are very many: a copy of the owner would take twice as long.
    return {
      cluster,
      namespace,
      name,
      uid,
      node,
      team,
      costCentre,
      workload,
      type,
      queue,
      gpus: heldGpus(asks, gpus, measure),
      regimes: regimesOf(asks, gpus[0]?.sharing),
    };
  }

  function keep(key: string, fact: WorkloadFact): void {
    const { cluster, node } = fact;
    drop(key);
    pods.set(key, fact);
    const place = inventoryKey({ cluster, node });
    podsOf.set(place, (podsOf.get(place) ?? new Set()).add(key));
    changes.set(place, (change += 1));
  }

  function drop(key: string): void {
    const fact = pods.get(key);
    if (fact === undefined) return;
    pods.delete(key);
    const place = inventoryKey(fact);
    podsOf.get(place)?.delete(key);
    if (podsOf.get(place)?.size === 0) podsOf.delete(place);
    touch(place);
  }

  function forget(key: string): boolean {
    facts.delete(key);
    shown.delete(key);
    return count(key);
  }

  /** Of a node without pods and without a fact nothing is remembered. */
  function touch(place: string): void {
    change += 1;
    if (podsOf.has(place) || nodes.has(place)) changes.set(place, change);
    else changes.delete(place);
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
      if (fact.kind !== "Namespace") return;
      const key = clusterFactKey(fact);
      if (!newest.take(key, fact)) return;
      const place = placeOf(fact.cluster, fact.name);
      if (fact.end === undefined) namespaces.set(place, { key, marks: fact.body });
      // A namespace that was made anew is another object with the same name.
      else if (namespaces.get(place)?.key === key) namespaces.delete(place);
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
