import { isIP } from "node:net";
import { DIALECTS } from "../../../domain/dialect/known.ts";
import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import type { PushedTarget } from "./model.ts";

/** A part that senders leave out. */
export interface SenderGap {
  readonly what: "up" | "node" | "help";
  /** The effect, in a sentence. */
  readonly text: string;
}

const MOST_NAMES = 3;

/** Returns the parts that senders leave out. Targets without GPUs do not count. */
export function senderGaps(
  targets: Iterable<PushedTarget>,
  families: ReadonlyMap<string, FamilyMeta>,
): readonly SenderGap[] {
  let [count, withoutUp, withoutNode] = [0, 0, 0];
  let isPodKnown = false;
  const withoutHelp = new Set<string>();
  for (const { lastMessage, upLabels, origins, instance, pods, layout } of targets) {
    if (lastMessage === undefined) continue;
    count += 1;
    if (upLabels === undefined) withoutUp += 1;
    if (origins.some(({ node }) => node === instance) && isAddress(instance)) withoutNode += 1;
    isPodKnown ||= pods.isKnown;
    for (const { name } of layout.slots)
      if (families.get(name)?.help === undefined && needsHelp(name)) withoutHelp.add(name);
  }
  const gaps: SenderGap[] = [];
  if (withoutUp > 0) {
    const text = `no \`up\` for ${withoutUp} of ${count} targets: a failed scrape looks like a page without GPUs`;
    gaps.push({ what: "up", text });
  }
  if (withoutNode > 0) {
    const why = isPodKnown ? "`kube_pod_info` does not have their pods" : "there is no `kube_pod_info`";
    const text = `no node for ${withoutNode} of ${count} targets, because their series have no label of it and ${why}: the address counts as the node`;
    gaps.push({ what: "node", text });
  }
  if (withoutHelp.size > 0) {
    const names = [...withoutHelp].slice(0, MOST_NAMES).join(", ");
    const more = withoutHelp.size > MOST_NAMES ? ` and ${withoutHelp.size - MOST_NAMES} more` : "";
    gaps.push({ what: "help", text: `no metadata for ${names}${more}: the unit is assumed` });
  }
  return gaps;
}

const needs = new Map<string, boolean>();
const MOST_NEEDS = 10_000;

/** Returns whether the unit of a metric is in its HELP text. */
function needsHelp(name: string): boolean {
  let known = needs.get(name);
  if (known === undefined) {
    known = DIALECTS.some(
      ({ owns, aliases }) => owns(name) && aliases(name).some(({ reading }) => reading.timeByHelp === true),
    );
    if (needs.size >= MOST_NEEDS) needs.clear();
    needs.set(name, known);
  }
  return known;
}

/** Returns true for `host:port` and for an IP. Others are names of nodes that a relabeling has put there. */
function isAddress(instance: string): boolean {
  return /:\d+$/.test(instance) || isIP(instance) !== 0;
}
