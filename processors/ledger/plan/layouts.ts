import type { Holding } from "../../../domain/holding.ts";
import { isSameProfile } from "../../../domain/mig-profile.ts";
import type { Proofs } from "../../../domain/attribution/proofs.ts";
import { deviceOf } from "./ladder.ts";
import type { Machine, NodeRecord, SeenGpu, SeenPart } from "./node-record.ts";
import { proofsOf } from "./proven.ts";

/**
 * Returns a record in which the new instances of a GPU that was cut again between two samples begin at their first evidence: a pod that was
 * bound to one of them, or the node's labels. Without evidence they begin at the first sample that shows them.
 */
export function withEarliestLayouts(record: NodeRecord): NodeRecord {
  if (record.seen.every((gpu) => cutsOf(gpu).length === 0)) return record;
  const proofs = proofsOf(record);
  return { ...record, seen: record.seen.map((gpu) => ({ ...gpu, parts: partsFromEvidence(record, gpu, proofs) })) };
}

/** Returns the times of the first samples that show other instances than the samples before. */
function cutsOf({ parts }: SeenGpu): readonly number[] {
  const made = new Set(parts.map(({ from }) => from));
  return [...made].filter((at) => parts.some(({ until }) => until === at));
}

function partsFromEvidence(record: NodeRecord, gpu: SeenGpu, proofs: Proofs): readonly SeenPart[] {
  return cutsOf(gpu).reduce((parts, shownAt) => {
    const made = parts.filter(({ from }) => from === shownAt);
    const lastAt = Math.max(...parts.flatMap((part) => (part.until === shownAt ? part.lastAt : [])));
    const evidence = [
      ...boundTimes(record, { slot: gpu.index, made, lastAt }, proofs),
      ...labelTimes(record.machines, made),
    ];
    const cutAt = Math.min(shownAt, ...evidence.filter((at) => lastAt < at));
    return parts.map((part) => {
      if (part.from === shownAt) return { ...part, from: cutAt };
      return part.until === shownAt ? { ...part, until: cutAt } : part;
    });
  }, gpu.parts);
}

/**
 * Returns when pods were bound that have one of the instances: pods that a label puts on it, and pods that request a profile that the node
 * did not have at the previous sample.
 */
function boundTimes(
  { pods, seen }: NodeRecord,
  { slot, made, lastAt }: { readonly slot: number; readonly made: readonly SeenPart[]; readonly lastAt: number },
  proofs: Proofs,
): readonly number[] {
  const holdings = [...pods.values()].map(({ holding }) => holding);
  const before = seen.flatMap(({ parts }) => parts.filter(({ from, until }) => from <= lastAt && lastAt < until));
  return made.flatMap((part) => {
    const named = proofs.on(deviceOf(slot, part.part), holdings).filter((pod) => asksFor(pod, part));
    const isNew = !before.some(({ profile }) => isSameProfile(profile, part.profile));
    const asking = isNew ? holdings.filter((pod) => asksFor(pod, part)) : [];
    return [...named, ...asking].map(({ from }) => from);
  });
}

function asksFor({ asks }: Holding, { profile }: SeenPart): boolean {
  return asks.some((ask) => ask.kind === "mig" && isSameProfile(ask.profile, profile));
}

/** Returns when the labels of a node began to count more instances of one of the profiles. */
function labelTimes(machines: readonly Machine[], made: readonly SeenPart[]): readonly number[] {
  const counted = ({ fact }: Machine["states"][number], { profile }: SeenPart): number =>
    fact.gpus.reduce((sum, { mig }) => sum + (mig.profiles[profile] ?? 0), 0);
  return machines.flatMap(({ states }) =>
    states
      .slice(1)
      .filter((state, index) => made.some((part) => counted(state, part) > counted(states[index]!, part)))
      .map(({ from }) => from),
  );
}
