import type { UsageMachine } from "../../allocation/usage-hour.ts";
import type { Proposal } from "../card.ts";
import type { Window } from "../evidence.ts";
import { counted } from "../rule.ts";

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
  readonly nodes: number;
  /** The names of the nodes that were there for the whole window, could be used, and had no holder. */
  readonly free: readonly string[];
  /** The nodes that were there for the whole window, with the part of their GPU-time that was held. */
  readonly steady: readonly { readonly node: string; readonly held: number }[];
  /** A GPU of one of the nodes, for its price. */
  readonly like: GpuOfNode;
  /** The owner of the pool by the rules, or the platform. */
  readonly team: string;
}

/** Finds nodes that nobody held in the whole window. `spare` of each group stay for new work. */
export function emptyNodes(
  group: NodeGroup,
  { window, spare }: { window: Window; spare: number },
): readonly Proposal[] {
  const { cluster, pool, model, instanceType, capacityType, nodes, team } = group;
  const leaving = group.free.slice(spare);
  if (leaving.length === 0) return [];
  return [
    {
      kind: "empty-nodes",
      subject: {
        cluster,
        namespace: "",
        kind: "",
        workload: "",
        type: "",
        team,
        pool,
        model,
        instanceType,
        capacityType,
      },
      from: window.from,
      changes: [{ remove: { cluster, node: leaving }, nodes: leaving.length }],
      figures: [
        { name: "Without a holder in the window", value: `${group.free.length} of ${counted(nodes, "node")}` },
        { name: "GPUs", value: model },
        ...(instanceType === "" ? [] : [{ name: "Instance type", value: instanceType }]),
        ...(capacityType === "" ? [] : [{ name: "Paid", value: capacityType }]),
        { name: "Kept as spare", value: String(Math.min(spare, group.free.length)) },
      ],
      remedy: {
        what: `Remove ${counted(leaving.length, "node")}${pool === "" ? "" : ` from the pool ${pool}`}, or let the autoscaler do it.`,
        lines: leaving.map((node) => `kubectl drain ${node} --ignore-daemonsets --delete-emptydir-data`).join("\n"),
      },
      risks: ["New work waits for a new node. Nodes of a scarce model may not come back when they are needed."],
      doubts: [],
    },
  ];
}
