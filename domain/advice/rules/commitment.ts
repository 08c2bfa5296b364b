import { HOUR_MILLIS } from "../../time.ts";
import type { Proposal } from "../card.ts";
import type { Window } from "../evidence.ts";
import { figuresOfNodes, subjectOfNodes, type NodeGroup } from "../node-group.ts";
import { counted } from "../../counted.ts";
import { percent } from "../rule.ts";

/** Nodes that are held less than this are rather removed than reserved. */
const LEAST_HELD = 0.5;

/**
 * Finds nodes on demand that were there for the whole window, and held for most of it: a reserved price pays off for them if the price book has
 * one that is lower.
 */
export function commitment(group: NodeGroup, window: Window): readonly Proposal[] {
  const { cluster, instanceType, capacityType } = group;
  const hours = (window.until - window.from) / HOUR_MILLIS;
  if (capacityType !== "on-demand") return [];
  const steady = group.steady.filter(({ held }) => held >= LEAST_HELD);
  if (steady.length === 0) return [];
  const held = steady.reduce((sum, node) => sum + node.held, 0) / steady.length;
  return [
    {
      kind: "commitment",
      subject: subjectOfNodes(group),
      from: window.from,
      changes: [{ pay: { cluster, node: steady.map(({ node }) => node) }, as: "reserved" }],
      figures: [
        { name: "On demand in every hour", value: `${counted(steady.length, "node")} for ${hours} h` },
        ...figuresOfNodes(group),
        { name: "Held", value: `${percent(held)} of their time` },
      ],
      remedy: {
        what: `Reserve ${counted(steady.length, "node")}${instanceType === "" ? "" : ` ${instanceType}`} instead of paying on demand.`,
        lines: steady.map(({ node }) => node).join("\n"),
      },
      risks: [
        "A reservation is paid for its whole term, also if the nodes are not needed any more or a newer model is cheaper.",
      ],
      doubts: [`The term of a reservation is longer than the ${Math.round(hours / 24)} days of evidence.`],
    },
  ];
}
