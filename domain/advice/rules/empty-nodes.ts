import type { Proposal } from "../card.ts";
import type { Window } from "../evidence.ts";
import { figuresOfNodes, subjectOfNodes, type NodeGroup } from "../node-group.ts";
import { counted } from "../../counted.ts";

/** Finds nodes that nobody held in the whole window. `spare` of each group stay for new work. */
export function emptyNodes(
  group: NodeGroup,
  { window, spare }: { window: Window; spare: number },
): readonly Proposal[] {
  const { cluster, pool, nodes } = group;
  const leaving = group.free.slice(spare);
  if (leaving.length === 0) return [];
  return [
    {
      kind: "empty-nodes",
      subject: subjectOfNodes(group),
      from: window.from,
      changes: [{ remove: { cluster, node: leaving }, nodes: leaving.length }],
      figures: [
        { name: "Without a holder in the window", value: `${group.free.length} of ${counted(nodes.length, "node")}` },
        ...figuresOfNodes(group),
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
