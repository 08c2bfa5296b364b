import { multiply, ONE, rational, ZERO, type Rational } from "../exact/rational.ts";
import { partIdOf, type Claim, type Held } from "./claim.ts";
import type { CutGpu, Part } from "./cut.ts";
import { fractionShare } from "./fraction.ts";
import type { GpuMemory, MemoryAssumption, MemoryShare } from "./gpu-memory.ts";
import { replicaShares, type ReplicaClaim, type SharedBy } from "./replicas.ts";
import { vgpuShare } from "./vgpu.ts";

/** The part of a GPU that a claim is for, and the fraction of the part, before any scaling. */
export interface HeldFraction {
  /** Undefined if the GPU has no such part. An allocation ends when its instance does, so nothing is held. */
  readonly part: Part | undefined;
  /** The fraction of the part. */
  readonly fraction: Rational;
  readonly assumption?: MemoryAssumption;
}

/** Returns the part and the fraction of each claim on one GPU, in order. Every regime has its own rule. */
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

/** Returns the fraction of a claim. Claims that share a part by replicas are not handled here, because they depend on each other. */
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

/** Returns the fractions of claims on replicas, by claim index. Each part is handled separately. */
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

/**
 * Returns the number of replicas of a claim that are on this part. For a common set, this is a fraction unless the whole set is on the
 * part.
 */
function countOf(held: ByReplica): Rational {
  return held.what === "replicas" ? rational(held.count) : rational(held.count * held.members, held.setSize);
}
