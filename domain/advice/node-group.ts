import type { UsageMachine } from "../allocation/usage-hour.ts";
import type { CardSubject, Figure } from "./card.ts";
import type { NodeTime } from "./packing/node-time.ts";

/** A GPU as prices see it. */
interface GpuOfNode {
  readonly cluster: string;
  readonly node: string;
  readonly slot: number;
  readonly model: string;
  readonly machine: UsageMachine;
}

/** Nodes of one kind in a cluster. */
export interface NodeGroup {
  readonly cluster: string;
  readonly pool: string;
  readonly model: string;
  readonly instanceType: string;
  readonly capacityType: string;
  /** In the order of their names. */
  readonly nodes: readonly NodeTime[];
  /** The names of the nodes that were there for the whole window, could be used, and had no holder. */
  readonly free: readonly string[];
  /** The nodes that were there for the whole window, with the part of their GPU-time that was held. */
  readonly steady: readonly { readonly node: string; readonly held: number }[];
  /** A GPU of one of the nodes, for its price. */
  readonly like: GpuOfNode;
  /** The owner of the pool by the rules, or the platform. */
  readonly team: string;
}

/** Returns the subject of a card for nodes. */
export function subjectOfNodes({ cluster, team, pool, model, instanceType, capacityType }: NodeGroup): CardSubject {
  const noWorkload = { namespace: "", kind: "", workload: "", type: "" };
  return { ...noWorkload, cluster, team, pool, model, instanceType, capacityType };
}

/** Returns the figures that nodes of a group have in common. */
export function figuresOfNodes({ model, instanceType, capacityType }: NodeGroup): readonly Figure[] {
  return [
    { name: "GPUs", value: model },
    { name: "Instance type", value: instanceType },
    { name: "Paid", value: capacityType },
  ].filter(({ value }) => value !== "");
}
