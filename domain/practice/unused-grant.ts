import type { GpuAmounts } from "../cluster-fact.ts";

/** A grant of which at most this part was in use is too large. */
const LARGEST_USED = 0.5;

/** A granted resource of which most was never in use. */
export interface UnusedGrant {
  readonly resource: string;
  readonly granted: number;
  /** The most that was in use at once. */
  readonly used: number;
}

/** Returns the granted resources of which at most half was in use at once. A resource without an entry in `most` is too new to judge. */
export function unusedOf(granted: GpuAmounts, most: GpuAmounts): readonly UnusedGrant[] {
  return Object.entries(granted).flatMap(([resource, amount]) => {
    const used = most[resource];
    return used !== undefined && amount > 0 && used <= amount * LARGEST_USED
      ? [{ resource, granted: amount, used }]
      : [];
  });
}

/** Returns unused grants as text: `at most 2 of 8 nvidia.com/gpu`. */
export function unusedText(unused: readonly UnusedGrant[]): string {
  return unused.map(({ resource, granted, used }) => `at most ${used} of ${granted} ${resource}`).join(", ");
}
