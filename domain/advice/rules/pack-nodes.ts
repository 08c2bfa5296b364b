import type { Proposal } from "../card.ts";
import type { Window } from "../evidence.ts";
import { figuresOfNodes, subjectOfNodes, type NodeGroup } from "../node-group.ts";
import type { HourSet } from "../packing/hour-set.ts";
import { packNodes, type Packing } from "../packing/pack.ts";
import { counted } from "../../counted.ts";

/** A card for nodes, with the plan by which they leave. */
export interface PackedProposal {
  readonly proposal: Proposal;
  readonly packing: Packing;
}

/**
 * Finds nodes whose pods had room on other nodes of the same kind for all of their time in the window. `spare` nodes of each group stay for new
 * work; nodes that nobody held count first. `hours` are those for which the cluster has usage.
 */
export function nodesToPack(
  group: NodeGroup,
  { window, spare, hours }: { readonly window: Window; readonly spare: number; readonly hours: HourSet },
): readonly PackedProposal[] {
  const { cluster, pool, nodes, free } = group;
  const plan = (most: number): Packing => packNodes(nodes, { wanted: [{ candidates: nodes, most }], hours });
  const all = plan(Infinity);
  const stay = Math.max(0, spare - free.length);
  const packing = stay === 0 ? all : plan(all.leaving.length - stay);
  const { leaving, pods } = packing;
  if (leaving.length === 0) return [];
  const proposal: Proposal = {
    kind: "pack-nodes",
    subject: subjectOfNodes(group),
    from: window.from,
    changes: [{ pack: { cluster, node: leaving }, nodes: leaving.length }],
    figures: [
      { name: "Could be emptied", value: `${leaving.length} of ${counted(nodes.length, "node")}` },
      { name: "Pods with room on other nodes", value: String(pods) },
      ...figuresOfNodes(group),
      { name: "Kept as spare", value: String(spare) },
    ],
    remedy: {
      what: `Move the pods of ${counted(leaving.length, "node")} to other nodes${pool === "" ? "" : ` of the pool ${pool}`}, and remove the nodes.`,
      lines: leaving.map((node) => `kubectl drain ${node} --ignore-daemonsets --delete-emptydir-data`).join("\n"),
    },
    risks: [
      "A pod that moves starts again. A training loses its work since the last checkpoint.",
      "New work waits for a new node while the other nodes are full. Nodes of a scarce model may not come back.",
    ],
    doubts: ["CPU and memory of the other nodes, and rules of placement, were not compared."],
  };
  return [{ proposal, packing }];
}
