import { rational, type Rational } from "../exact/rational.ts";

/** What a policy counts of a time-sliced or MPS GPU: replicas, the pods on it, or what they do. */
export type SharedBy = "replica" | "occupant" | "usage";

/** A pod's replicas of one shared GPU. */
export interface ReplicaClaim {
  /** The pod: several claims of one count as one occupant. */
  readonly holder: string;
  /** Replicas of this GPU. */
  readonly count: number;
  /**
   * The sum of the activity of this claim's own processes, in any unit that all claims of the GPU have in common; absent where
   * the exporter does not give it.
   */
  readonly activity?: bigint;
}

/**
 * The share of each claim on a GPU that is shared as R replicas, before any scaling (ledger, "Shares", time-slicing, MPS):
 * - `replica`: 1/R for each replica that it has;
 * - `occupant`: 1/(pods on the GPU), which several claims of one pod divide equally;
 * - `usage`: its part of the activity of all; as `occupant` where a claim has none measured, or while the sum is 0.
 *
 * Fails with a RangeError for R = 0 and for a negative activity.
 */
export function replicaShares(
  replicas: number,
  claims: readonly ReplicaClaim[],
  sharedBy: SharedBy,
): readonly Rational[] {
  switch (sharedBy) {
    case "replica":
      return claims.map(({ count }) => rational(count, replicas));
    case "occupant":
      return occupantShares(claims);
    case "usage":
      return usageShares(claims) ?? occupantShares(claims);
  }
}

function occupantShares(claims: readonly ReplicaClaim[]): readonly Rational[] {
  const claimsOf = new Map<string, number>();
  for (const { holder } of claims) claimsOf.set(holder, (claimsOf.get(holder) ?? 0) + 1);
  return claims.map(({ holder }) => rational(1, claimsOf.size * (claimsOf.get(holder) ?? 1)));
}

function usageShares(claims: readonly ReplicaClaim[]): readonly Rational[] | undefined {
  let sum = 0n;
  const activities: bigint[] = [];
  for (const { activity } of claims) {
    if (activity === undefined) return undefined;
    if (activity < 0n) throw new RangeError(`an activity is not negative, and ${activity} is`);
    activities.push(activity);
    sum += activity;
  }
  return sum === 0n ? undefined : activities.map((activity) => rational(activity, sum));
}
