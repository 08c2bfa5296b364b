import { add, compare, divide, multiply, rational, smaller, subtract, ZERO, type Rational } from "../exact/rational.ts";
import { partIdOf, type Claim, type ShareMeasures } from "../share/claim.ts";
import { cutGpu } from "../share/cut.ts";
import { gpuShares, type ShareFinding } from "../share/gpu-shares.ts";
import type { UsageClaim, UsageSegment } from "./segment.ts";

/** The state of a held share at a moment. */
export type HeldState = "unavailable" | "starting" | "waiting" | "unobserved" | "active" | "idle";

/** The state of a free share. */
export type FreeState = "unavailable" | "stranded" | "unallocated";

/** A claim's share over a segment, by state. All amounts are exact GPU-milliseconds. */
export interface HeldAllocation {
  readonly claim: Claim;
  /** The share of the GPU by the regime's rule. `share` is the share after the reduction for oversubscription. */
  readonly raw: Rational;
  readonly share: Rational;
  readonly states: Readonly<Record<HeldState, Rational>>;
}

/** A segment divided among its holders and the free parts, each by state. The sum is exactly the segment's length. */
export interface Allocation {
  readonly held: readonly HeldAllocation[];
  readonly free: Readonly<Record<FreeState, Rational>>;
  readonly findings: readonly ShareFinding[];
}

const PPM = rational(1_000_000);

/**
 * Divides a segment under a policy's measures. A held share takes the first state that applies: unavailable (while no activity is
 * measured), starting, waiting, unobserved, active, idle. A free share is unavailable (cordoning counts here), stranded or unallocated.
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
  const neighbors = countByPart(claims);
  const held = shares.held.map(({ claim, raw, share }, index): HeldAllocation => {
    const of = claims[index]!;
    const part = partIdOf(claim.held) ?? "";
    const active = activeOf(of, {
      share,
      partShare: partShare(part),
      heldOfPart: heldOf.get(part) ?? share,
      isAlone: (neighbors.get(part) ?? 0) < 2,
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

/**
 * Adds the activity of the holder's own processes over the segment to a claim on replicas, for policies that share replicas by activity.
 */
function withActivity({ claim, measured }: UsageClaim): Claim {
  if (claim.held.what !== "replicas" || measured.process === undefined) return claim;
  return { ...claim, held: { ...claim.held, activity: measured.process.atUsagePpmMillis } };
}

/** A claim in relation to the other claims on its device. */
interface OnDevice {
  readonly share: Rational;
  /** The device's share of the GPU. */
  readonly partShare: Rational;
  /** The part of the GPU that all claims hold on the device. */
  readonly heldOfPart: Rational;
  readonly isAlone: boolean;
  readonly sharedBy: ShareMeasures["sharedBy"];
}

/**
 * Returns the active part of a claim, in GPU-milliseconds. If processes are reported separately: the activity of the holder's own
 * processes. If the claim is alone on the device and has all of it: the device's activity within the share. Otherwise the device's
 * activity, limited to the held part, divided in proportion to the claims.
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

/** Returns a function from the number of a part of the GPU to its share. The share of the whole GPU is 1. */
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
