import type { ResourceNames } from "../collectors/kubernetes/projection/gpu-resource.ts";
import { nameOfObject } from "../collectors/kubernetes/projection/kube-object.ts";
import type { ClusterFact } from "../domain/cluster-fact.ts";
import type { InventoryFact } from "../domain/inventory.ts";
import { decodeClusterFact, decodeInventory, decodeWorkload } from "../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../domain/messages/topics.ts";
import type { WorkloadFact } from "../domain/workload.ts";
import { objectFacts } from "../scenarios/play/object-facts.ts";
import type { Seen } from "./seen.ts";

/** The facts of a cluster's objects, as a collector would send them. */
export interface SeenFacts {
  readonly nodes: readonly InventoryFact[];
  readonly pods: readonly WorkloadFact[];
  readonly cluster: readonly ClusterFact[];
  /** Sentences about objects that look wrong, such as counts that contradict each other. */
  readonly remarks: readonly string[];
}

/** Returns the facts of the objects that a snapshot saw. */
export function factsOf(
  { objects, atMillis }: Pick<Seen, "objects" | "atMillis">,
  { cluster, resourceNames }: { readonly cluster: string; readonly resourceNames: ResourceNames },
): SeenFacts {
  const nodes = new Map<string, InventoryFact>();
  const pods = new Map<string, WorkloadFact>();
  const others = new Map<string, ClusterFact>();
  const dated = objects.map((object) => ({ object, atMillis }));
  const { messages, remarks } = objectFacts({ cluster, objects: dated, resourceNames }, atMillis);
  // Of several facts of one object, the last one is the newest.
  for (const { topic, value } of messages) {
    if (topic === INVENTORY_TOPIC) {
      const fact = valid(decodeInventory(value));
      nodes.set(fact.node, fact);
    } else if (topic === WORKLOADS_TOPIC) {
      const fact = valid(decodeWorkload(value));
      pods.set(fact.uid, fact);
    } else {
      const fact = valid(decodeClusterFact(value));
      others.set(`${fact.kind} ${fact.uid}`, fact);
    }
  }
  return {
    nodes: [...nodes.values()],
    pods: [...pods.values()],
    cluster: [...others.values()],
    remarks: remarks.map(({ object, remark }) => `${nameOfObject(object)}: ${remark.text}`),
  };
}

function valid<Fact extends object>(fact: Fact | { readonly invalid: string }): Fact {
  if ("invalid" in fact) throw new TypeError(`the projection made an invalid fact: ${String(fact.invalid)}`);
  return fact;
}
