import { add, divide, larger, multiply, ONE, rational, smaller, ZERO, type Rational } from "../exact/rational.ts";

/** The measure of a time-sliced or MPS GPU in a policy: replicas, pods on the GPU, or their activity. */
export type SharedBy = "replica" | "occupant" | "usage";

/** A pod's replicas of one shared GPU. */
export interface ReplicaClaim {
  /** The pod. Several claims of one pod count as one occupant. */
  readonly holder: string;
  /** Replicas of this GPU. For a common set on several GPUs: the average number on each. */
  readonly count: Rational;
  /**
   * The sum of the activity of this claim's own processes, in any unit that is the same for all claims of the GPU; absent if the exporter
   * does not report it.
   */
  readonly activity?: bigint;
}

/**
 * Returns the share of each claim on a GPU that is shared as R replicas, before any scaling (docs/policies.md: time-slicing, MPS):
 * - `replica`: 1/R for each of its replicas;
 * - `occupant`: 1/(pods on the GPU), divided equally among the claims of one pod; a pod that may have less than one replica of the GPU
 *   counts only by that part;
 * - `usage`: its part of the total activity; as `occupant` if a claim has no measurement, or while the sum is 0.
 *
 * Throws a RangeError for R = 0 and for a negative activity.
 */
export function replicaShares(
  replicas: number,
  claims: readonly ReplicaClaim[],
  sharedBy: SharedBy,
): readonly Rational[] {
  switch (sharedBy) {
    case "replica":
      return claims.map(({ count }) => divide(count, rational(replicas)));
    case "occupant":
      return occupantShares(claims);
    case "usage":
      return usageShares(claims) ?? occupantShares(claims);
  }
}

function occupantShares(claims: readonly ReplicaClaim[]): readonly Rational[] {
  const claimsOf = new Map<string, Rational[]>();
  for (const { holder, count } of claims) claimsOf.set(holder, [...(claimsOf.get(holder) ?? []), count]);
  const presenceOf = (counts: readonly Rational[]): Rational => smaller(ONE, counts.reduce(add, ZERO));
  const presences = [...claimsOf.values()].map(presenceOf).reduce(add, ZERO);
  return claims.map(({ holder }) => {
    const counts = claimsOf.get(holder)!;
    return divide(presenceOf(counts), multiply(larger(ONE, presences), rational(counts.length)));
  });
}

function usageShares(claims: readonly ReplicaClaim[]): readonly Rational[] | undefined {
  let sum = 0n;
  const activities: bigint[] = [];
  for (const { activity } of claims) {
    if (activity === undefined) return undefined;
    if (activity < 0n) throw new RangeError(`an activity cannot be negative: ${activity}`);
    activities.push(activity);
    sum += activity;
  }
  return sum === 0n ? undefined : activities.map((activity) => rational(activity, sum));
}
