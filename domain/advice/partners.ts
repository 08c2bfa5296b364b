import type { Proposal } from "./card.ts";
import { devicesOf, type WorkloadEvidence } from "./evidence.ts";
import { counted } from "../counted.ts";
import { gib, percent, type AdviceRules } from "./rule.ts";

const PPM = 1_000_000;
/** The most partners that a card names. */
const MOST_PARTNERS = 3;

/** A workload whose pods can each have a part of a GPU. */
interface Sharer {
  readonly workload: WorkloadEvidence;
  readonly model: string;
  readonly memoryMiB: number | undefined;
  /** The highest activity of any hour, parts per million, and the most memory. */
  readonly peakPpm: number;
  readonly usedMiB: number;
}

/** Two workloads on one GPU: the highest sum of their activity in an hour as a part of 1, and the sum of their most memory. */
interface Pair {
  readonly other: WorkloadEvidence;
  readonly peak: number;
  readonly usedMiB: number;
}

/**
 * Returns proposals for fractions of GPUs, each with the workloads that could have the rest of its GPU, by time-slicing or MPS: the same team and
 * model, and with headroom neither the activity of any hour nor the memory of both is more than the GPU has. Those with the lowest peaks come first.
 * Other proposals stay as they are, in the same order.
 */
export function withPartners(
  proposals: ReadonlyMap<Proposal, WorkloadEvidence>,
  { headroom }: Pick<AdviceRules, "headroom">,
): ReadonlyMap<Proposal, WorkloadEvidence> {
  const sharers = new Map<Proposal, Sharer>();
  for (const [proposal, workload] of proposals) if (isOfFraction(proposal)) sharers.set(proposal, sharerOf(workload));
  const byPeak = [...sharers.values()].toSorted(
    (one, other) => one.peakPpm - other.peakPpm || byName(one.workload, other.workload),
  );
  return new Map(
    [...proposals].map(([proposal, workload]) => {
      const sharer = sharers.get(proposal);
      if (sharer === undefined) return [proposal, workload];
      const pairs: Pair[] = [];
      for (const other of byPeak) {
        if (pairs.length === MOST_PARTNERS) break;
        const pair = other === sharer ? undefined : pairOf(sharer, other, headroom);
        if (pair !== undefined) pairs.push(pair);
      }
      return [describe(proposal, pairs), workload];
    }),
  );
}

function isOfFraction({ kind, changes: [change] }: Proposal): boolean {
  return kind === "smaller-part" && "fraction" in (change!["to"] as object);
}

function sharerOf(workload: WorkloadEvidence): Sharer {
  const [{ model, memoryMiB }] = devicesOf(workload) as [ReturnType<typeof devicesOf>[number]];
  const { hours } = workload;
  return {
    workload,
    model,
    memoryMiB,
    peakPpm: Math.max(...hours.map(({ maxPpm }) => maxPpm)),
    usedMiB: Math.max(...hours.map(({ memoryMaxMiB }) => memoryMaxMiB)),
  };
}

function pairOf(one: Sharer, other: Sharer, headroom: number): Pair | undefined {
  // A viewer must not see the workloads of other teams.
  if (one.workload.team !== other.workload.team) return undefined;
  if (one.model !== other.model || one.memoryMiB === undefined) return undefined;
  const usedMiB = one.usedMiB + other.usedMiB;
  if (usedMiB * (1 + headroom) > one.memoryMiB) return undefined;
  const peak = Math.max(...one.workload.hours.map(({ maxPpm }, hour) => maxPpm + other.workload.hours[hour]!.maxPpm));
  if (peak * (1 + headroom) > PPM) return undefined;
  return { other: other.workload, peak: peak / PPM, usedMiB };
}

function describe(proposal: Proposal, pairs: readonly Pair[]): Proposal {
  if (pairs.length === 0)
    return {
      ...proposal,
      doubts: [...proposal.doubts, "No other workload of the team fits onto the rest of the GPU."],
    };
  const value = pairs
    .map(({ other, peak, usedMiB }) => `${other.namespace}/${other.workload} (peak ${percent(peak)}, ${gib(usedMiB)})`)
    .join(", ");
  const name = `${counted(pairs.length, "workload")} for the rest of the GPU`;
  return { ...proposal, figures: [...proposal.figures, { name, value }] };
}

function byName(one: WorkloadEvidence, other: WorkloadEvidence): number {
  const [a, b] = [one, other].map(({ namespace, kind, workload }) => `${namespace}\n${kind}\n${workload}`);
  return a! < b! ? -1 : 1;
}
