import type { Rational } from "../../domain/exact/rational.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { clusterFactKey, inventoryKey, workloadKey } from "../../domain/messages/fact-message.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import type { Marks } from "../../domain/owner/owner.ts";
import { ownersOf } from "../../domain/owner/owners.ts";
import type { MigMeasure } from "../../domain/share/mig-shape.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { FactListener } from "../followed-facts.ts";
import { createNewest } from "../holdings/newest.ts";
import { heldGpus } from "./held-gpus.ts";

/** A pod that holds GPUs now, whose it is, and what of its node it holds. */
export interface LivePod {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly team: string;
  /** Empty where nobody names one. */
  readonly costCentre: string;
  readonly workload: string;
  readonly type: string;
  readonly queue: string;
  /** 1 is a whole GPU. */
  readonly gpus: Rational;
}

/** The pods that hold GPUs and the nodes that have them, as far as the facts tell that were given. */
export interface LivePods extends FactListener {
  /** The nodes of this instance with GPUs. */
  nodes(isOwn: IsOwn): readonly InventoryFact[];
  /** The pods that are bound to nodes of this instance. */
  pods(isOwn: IsOwn): readonly LivePod[];
}

/** Whether a node is one of this instance's partitions. */
export type IsOwn = (cluster: string, node: string) => boolean;

/** A view without any pod. Of each object the newest fact counts, in whatever order they come. */
export function createLivePods(owners: OwnerRules, measure: MigMeasure, now: () => number): LivePods {
  const newest = createNewest();
  const pods = new Map<string, WorkloadFact>();
  const nodes = new Map<string, InventoryFact>();
  const namespaces = new Map<string, { readonly key: string; readonly marks: Marks }>();
  const placeOf = (cluster: string, namespace: string): string => JSON.stringify([cluster, namespace]);

  function podOf(fact: WorkloadFact): LivePod {
    const { cluster, namespace, name, uid, node, queue = "" } = fact;
    const on = nodes.get(inventoryKey({ cluster, node }));
    const subject = {
      namespace,
      workload: fact.workload.name,
      queue,
      pool: on?.pool ?? "",
      pod: { labels: fact.labels, annotations: fact.annotations },
      namespaceMarks: namespaces.get(placeOf(cluster, namespace))?.marks,
    };
    const { team, costCenter } = ownersOf(owners, subject, now()).owners;
    return {
      cluster,
      namespace,
      name,
      uid,
      node,
      team: team.value,
      costCentre: costCenter.value,
      workload: fact.workload.name,
      type: fact.type,
      queue,
      gpus: heldGpus(fact.asks, on?.gpus ?? [], measure),
    };
  }

  return {
    workload(fact) {
      const key = workloadKey(fact);
      if (!newest.take(key, fact)) return;
      const isOver = fact.end !== undefined || fact.phase === "Succeeded" || fact.phase === "Failed";
      if (isOver || fact.node === "" || fact.asks.length === 0) pods.delete(key);
      else pods.set(key, fact);
    },
    inventory(fact) {
      const key = inventoryKey(fact);
      if (!newest.take(key, fact)) return;
      if (fact.end === undefined) nodes.set(key, fact);
      else nodes.delete(key);
    },
    clusterFact(fact) {
      if (fact.kind !== "Namespace") return;
      const key = clusterFactKey(fact);
      if (!newest.take(key, fact)) return;
      const place = placeOf(fact.cluster, fact.name);
      if (fact.end === undefined) namespaces.set(place, { key, marks: fact.body });
      // A namespace that was made anew is another object with the same name.
      else if (namespaces.get(place)?.key === key) namespaces.delete(place);
    },
    tombstone(_, key) {
      newest.forget(key);
      pods.delete(key);
      nodes.delete(key);
    },
    nodes: (isOwn) => [...nodes.values()].filter(({ cluster, node }) => isOwn(cluster, node)),
    pods: (isOwn) => [...pods.values()].filter(({ cluster, node }) => isOwn(cluster, node)).map(podOf),
  };
}
