import { multiply, ONE, rational, ZERO, type Rational } from "../exact/rational.ts";
import { partIdOf, type Claim, type Held } from "./claim.ts";
import type { CutGpu, Part } from "./cut.ts";
import { fractionShare } from "./fraction.ts";
import type { GpuMemory, MemoryAssumption, MemoryShare } from "./gpu-memory.ts";
import { replicaShares, type ReplicaClaim, type SharedBy } from "./replicas.ts";
import { vgpuShare } from "./vgpu.ts";

/** How much of which part of a GPU a claim is for, before any scaling. */
export interface HeldFraction {
  /** Undefined where the GPU has no such part: an allocation ends when its instance does, so that nothing is held. */
  readonly part: Part | undefined;
  /** Of the part. */
  readonly fraction: Rational;
  readonly assumption?: MemoryAssumption;
}

/** What each of the claims on one GPU is for, in their order: every regime by its own rule (ledger, "Shares"). */
export function heldFractions(
  claims: readonly Claim[],
  on: { readonly cut: CutGpu; readonly memory: GpuMemory | undefined; readonly sharedBy: SharedBy },
): readonly HeldFraction[] {
  const parts = claims.map(({ held }) => on.cut.part(partIdOf(held)));
  const byReplica = replicaFractions(claims, parts, on.sharedBy);
  return claims.map(({ held }, index): HeldFraction => {
    const part = parts[index];
    if (part === undefined) return { part, fraction: ZERO };
    const { share: fraction, ...rest } = fractionOf(held, part, on.memory);
    return { part, fraction: byReplica.get(index) ?? fraction, ...rest };
  });
}

/** Of every claim but those that share a part by replicas, which depend on each other. */
function fractionOf(held: Held, part: Part, memory: GpuMemory | undefined): MemoryShare {
  switch (held.what) {
    case "whole":
    case "instance":
    case "partition":
      return { share: held.reservedFor === undefined ? ONE : rational(1, held.reservedFor) };
    case "consumed":
      return { share: rational(BigInt(held.amount), BigInt(held.of) * BigInt(held.reservedFor ?? 1)) };
    case "vgpu":
      return vgpuShare(held, memory);
    case "fraction":
      return fractionShare(held, memory);
    case "common": {
      const { share, ...rest } = held.each === undefined ? { share: ONE } : fractionOf(held.each, part, memory);
      const there = rational(BigInt(held.count) * BigInt(held.members), BigInt(held.setSize) * BigInt(part.replicas));
      return { share: multiply(share, there), ...rest };
    }
    case "replicas":
      return { share: ZERO };
  }
}

/** By the index of the claim, of those that are replicas of one part: of each part by itself. */
function replicaFractions(
  claims: readonly Claim[],
  parts: readonly (Part | undefined)[],
  sharedBy: SharedBy,
): ReadonlyMap<number, Rational> {
  const groups = new Map<string, { part: Part; indexes: number[]; claims: ReplicaClaim[] }>();
  for (const [index, { holder, held }] of claims.entries()) {
    const part = parts[index];
    if (part === undefined || !isByReplica(held)) continue;
    const group = groups.get(part.id) ?? { part, indexes: [], claims: [] };
    groups.set(part.id, group);
    group.indexes.push(index);
    group.claims.push({ holder, ...held, count: countOf(held) });
  }
  const fractions = new Map<number, Rational>();
  for (const { part, indexes, claims: shared } of groups.values()) {
    const shares = replicaShares(part.replicas, shared, part.replicas === 1 ? "replica" : sharedBy);
    for (const [at, index] of indexes.entries()) fractions.set(index, shares[at] ?? ZERO);
  }
  return fractions;
}

type ByReplica = Extract<Held, { what: "replicas" | "common" }>;

function isByReplica(held: Held): held is ByReplica {
  return held.what === "replicas" || (held.what === "common" && held.each === undefined);
}

/** Of a common set, the replicas that are on this part: all of them where the set lies on it altogether. */
function countOf(held: ByReplica): Rational {
  return held.what === "replicas" ? rational(held.count) : rational(held.count * held.members, held.setSize);
}
