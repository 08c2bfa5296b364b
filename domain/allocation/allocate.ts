import { add, compare, divide, multiply, rational, smaller, subtract, ZERO, type Rational } from "../exact/rational.ts";
import { partIdOf, type Claim, type ShareMeasures } from "../share/claim.ts";
import { cutGpu } from "../share/cut.ts";
import { gpuShares, type ShareFinding } from "../share/gpu-shares.ts";
import type { UsageClaim, UsageSegment } from "./segment.ts";

/** What a held share is at a moment (ledger, "States of a GPU-millisecond"). */
export type HeldState = "unavailable" | "starting" | "waiting" | "unobserved" | "active" | "idle";

/** What a free share is. */
export type FreeState = "unavailable" | "stranded" | "unallocated";

/** A claim's share over a segment, by state. All amounts are exact GPU-milliseconds. */
export interface HeldAllocation {
  readonly claim: Claim;
  /** Of the GPU, as the regime's rule has it, and after oversubscription was divided away. */
  readonly raw: Rational;
  readonly share: Rational;
  readonly states: Readonly<Record<HeldState, Rational>>;
}

/** A segment divided among its holders and the free parts, each by state: the sum is exactly the segment's length. */
export interface Allocation {
  readonly held: readonly HeldAllocation[];
  readonly free: Readonly<Record<FreeState, Rational>>;
  readonly findings: readonly ShareFinding[];
}

const PPM = rational(1_000_000);

/**
 * Divides a segment under a policy's measures. A held share takes the first state that applies: unavailable (while no activity
 * is measured), starting, waiting, unobserved, active, idle. A free share is unavailable (cordoning counts here), stranded
 * or unallocated.
 */
export function allocate(segment: UsageSegment, measures: ShareMeasures): Allocation {
  const { gpu, claims, fromMillis, untilMillis, unavailableBecause, isCordoned, busyMillis } = segment;
  const length = untilMillis - fromMillis;
  const shares = gpuShares(gpu, claims.map(withActivity), measures);
  const partShare = partShares(segment, measures);
  const heldOf = new Map<string, Rational>();
  for (const { claim, share } of shares.held) {
    const part = partIdOf(claim.held) ?? "";
    heldOf.set(part, add(heldOf.get(part) ?? ZERO, share));
  }
  const neighbours = countByPart(claims);
  const held = shares.held.map(({ claim, raw, share }, index): HeldAllocation => {
    const of = claims[index]!;
    const part = partIdOf(claim.held) ?? "";
    const active = activeOf(of, {
      share,
      partShare: partShare(part),
      heldOfPart: heldOf.get(part) ?? share,
      isAlone: (neighbours.get(part) ?? 0) < 2,
      sharedBy: measures.sharedBy,
    });
    return { claim: of.claim, raw, share, states: statesOf(of, share, active, length, unavailableBecause !== "") };
  });
  const downMillis = isCordoned ? length : unavailableBecause === "" ? 0 : length - busyMillis;
  const whole = add(add(shares.free.unallocated, shares.free.stranded), shares.free.unavailable);
  const up = rational(length - downMillis);
  const free = {
    unavailable: add(multiply(whole, rational(downMillis)), multiply(shares.free.unavailable, up)),
    stranded: multiply(shares.free.stranded, up),
    unallocated: multiply(shares.free.unallocated, up),
  };
  return { held, free, findings: shares.findings };
}

/** A claim on replicas with what its own processes did over the segment, by which a policy can share them. */
function withActivity({ claim, measured }: UsageClaim): Claim {
  if (claim.held.what !== "replicas" || measured.process === undefined) return claim;
  return { ...claim, held: { ...claim.held, activity: measured.process.atUsagePpmMillis } };
}

/** How a claim stands to the others on its device. */
interface OnDevice {
  readonly share: Rational;
  /** Of the GPU: the device's own share of it. */
  readonly partShare: Rational;
  /** Of the GPU: what all claims hold of the device. */
  readonly heldOfPart: Rational;
  readonly isAlone: boolean;
  readonly sharedBy: ShareMeasures["sharedBy"];
}

/**
 * The active part of a claim, in GPU-milliseconds: the device's activity within the share where the claim is alone on the
 * device; the holder's own processes' where they are told apart; else of the device's activity, at most what is held of it,
 * the part that the claim has in what is held.
 */
function activeOf({ measured }: UsageClaim, on: OnDevice): Rational {
  const { share, partShare, heldOfPart, isAlone, sharedBy } = on;
  if (measured.process !== undefined) {
    const { atClaimPpmMillis, atOccupantPpmMillis, atUsagePpmMillis } = measured.process;
    const own =
      sharedBy === "replica" ? atClaimPpmMillis : sharedBy === "occupant" ? atOccupantPpmMillis : atUsagePpmMillis;
    return multiply(partShare, ppm(own));
  }
  if (isAlone && compare(share, partShare) === 0) return multiply(share, ppm(measured.activityPpmMillis));
  if (compare(heldOfPart, ZERO) === 0) return ZERO;
  const isWhole = compare(heldOfPart, partShare) >= 0;
  const activity = isWhole ? measured.activityPpmMillis : measured.activityAtClaimsPpmMillis;
  return multiply(divide(multiply(partShare, share), heldOfPart), ppm(activity));
}

function statesOf(
  { stage, measured }: UsageClaim,
  share: Rational,
  active: Rational,
  length: number,
  isUnavailable: boolean,
): HeldAllocation["states"] {
  const downMillis = isUnavailable ? length - measured.busyMillis : 0;
  const states = {
    unavailable: multiply(share, rational(downMillis)),
    starting: ZERO,
    waiting: ZERO,
    unobserved: ZERO,
    active: ZERO,
    idle: ZERO,
  };
  const up = length - downMillis;
  if (stage !== "running") return { ...states, [stage]: multiply(share, rational(up)) };
  const coveredMillis = isUnavailable ? measured.busyMillis : measured.coveredMillis;
  const covered = multiply(share, rational(coveredMillis));
  const within = smaller(active, covered);
  return {
    ...states,
    unobserved: multiply(share, rational(up - coveredMillis)),
    active: within,
    idle: subtract(covered, within),
  };
}

/** The share of each part of the GPU that a claim can be on, by its number; of the whole GPU it is 1. */
function partShares({ gpu }: UsageSegment, { migShare }: ShareMeasures): (part: string) => Rational {
  const cut = cutGpu(gpu, migShare);
  return (part) => cut.part(part === "" ? undefined : part)?.share ?? ZERO;
}

function countByPart(claims: readonly UsageClaim[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { claim } of claims) {
    const part = partIdOf(claim.held) ?? "";
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  return counts;
}

function ppm(millis: bigint): Rational {
  return divide(rational(millis), PPM);
}
