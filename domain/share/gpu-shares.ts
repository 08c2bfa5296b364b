import { add, compare, divide, multiply, ONE, smaller, subtract, ZERO, type Rational } from "../exact/rational.ts";
import type { Claim, ShareMeasures } from "./claim.ts";
import { cutGpu, type CutGpu } from "./cut.ts";
import { gpuMemoryOf, type MemoryAssumption } from "./gpu-memory.ts";
import { heldFractions, type HeldFraction } from "./held-fraction.ts";
import type { GpuAt } from "./layout.ts";
import type { MigAssumption } from "./mig-shape.ts";
import { divisorOf, sumOf } from "./scale.ts";

/** The share of a claim. */
export interface ClaimShare {
  readonly claim: Claim;
  /** The share of the GPU by its regime's rule. */
  readonly raw: Rational;
  /** The share of the GPU after division by the sum, if the sum is more than 1. */
  readonly share: Rational;
}

/** A finding about how a share was computed. */
export interface ShareFinding {
  /** `no-such-part`: the claim names an instance or a partition that the GPU does not have, so it holds nothing. */
  readonly what: MigAssumption | MemoryAssumption | "no-such-part";
  /** The instance's number for a MIG finding, otherwise the holder. */
  readonly of: string;
  /** True if a figure was assumed. Otherwise everything is known. */
  readonly assumed: boolean;
}

/** The shares of one GPU at one moment. All held shares and the three free parts add up to exactly 1. */
export interface GpuShares {
  /** In the order of the claims. */
  readonly held: readonly ClaimShare[];
  /** `unavailable` is only the share of a GPU in MIG mode without instances. Other unavailability does not depend on the layout. */
  readonly free: { readonly unallocated: Rational; readonly stranded: Rational; readonly unavailable: Rational };
  /** True if any share differs from its raw value. */
  readonly isScaled: boolean;
  readonly findings: readonly ShareFinding[];
}

/**
 * Returns the share of each holder of a GPU under a policy's measures, and the free parts. The shares of created instances are divided by
 * their sum if it is more than 1. The same applies to the claims on one instance or partition, and finally to everything that is held of
 * the GPU. Claims of several regimes on one GPU add up. Free is the unheld share of created instances, replicas and partitions, and the MIG
 * remainder. A holder of the GPU beyond its parts takes from the unheld share first, and from the MIG remainder last.
 */
export function gpuShares(gpu: GpuAt, claims: readonly Claim[], measures: ShareMeasures): GpuShares {
  const cut = cutGpu(gpu, measures.migShare);
  const fractions = heldFractions(claims, { cut, memory: gpuMemoryOf(gpu), sharedBy: measures.sharedBy });
  const shares = withinTheGpu(withinTheirParts(fractions));
  const held = claims.map((claim, index): ClaimShare => {
    const { part, fraction } = fractions[index] ?? { part: undefined, fraction: ZERO };
    return { claim, raw: multiply(part?.raw ?? ZERO, fraction), share: shares[index] ?? ZERO };
  });
  return {
    held,
    free: freeParts(cut, subtract(ONE, sumOf(shares))),
    isScaled: held.some(({ raw, share }) => compare(raw, share) !== 0),
    findings: findingsOf(cut, claims, fractions),
  };
}

function withinTheirParts(fractions: readonly HeldFraction[]): readonly Rational[] {
  const byPart = new Map<string, Rational>();
  for (const { part, fraction } of fractions)
    if (part !== undefined) byPart.set(part.id, add(byPart.get(part.id) ?? ZERO, fraction));
  return fractions.map(({ part, fraction }) => {
    if (part === undefined) return ZERO;
    // The whole GPU is not one of its parts. Claims on it are scaled with all others.
    if (part.id === "") return fraction;
    return divide(multiply(part.share, fraction), divisorOf([byPart.get(part.id) ?? ZERO]));
  });
}

function withinTheGpu(shares: readonly Rational[]): readonly Rational[] {
  const divisor = divisorOf(shares);
  return shares.map((share) => divide(share, divisor));
}

function freeParts({ remainder, remainderIs }: CutGpu, free: Rational): GpuShares["free"] {
  const rest = smaller(remainder, free);
  const parts = { unallocated: subtract(free, rest), stranded: ZERO, unavailable: ZERO };
  return { ...parts, [remainderIs]: add(parts[remainderIs], rest) };
}

function findingsOf(
  { assumptions }: CutGpu,
  claims: readonly Claim[],
  fractions: readonly HeldFraction[],
): readonly ShareFinding[] {
  const findings = assumptions.map(({ instance, assumption }): ShareFinding => ({
    what: assumption,
    of: instance,
    assumed: true,
  }));
  for (const [index, { holder }] of claims.entries()) {
    const { part, assumption } = fractions[index] ?? {};
    if (part === undefined) findings.push({ what: "no-such-part", of: holder, assumed: false });
    else if (assumption !== undefined) findings.push({ what: assumption, of: holder, assumed: true });
  }
  return findings;
}
