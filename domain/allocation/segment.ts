import type { Claim } from "../share/claim.ts";
import type { GpuAt } from "../share/layout.ts";

/**
 * The measurements of a claim over a segment, in whole milliseconds and in parts per million times milliseconds. They hold every sum that a
 * policy can use, so a policy years later needs no samples. The activity is that of the claim's device: the GPU, or its instance or
 * partition.
 */
export interface Measured {
  /** Time for which samples of this holder exist. */
  readonly coveredMillis: number;
  /** The part of the covered time in which the device was active at all. */
  readonly busyMillis: number;
  /** The activity of the device, limited to the whole device. */
  readonly activityPpmMillis: bigint;
  /** The same, limited in each sample to the held part of the device: that of all claims on it, as they are written. */
  readonly activityAtClaimsPpmMillis: bigint;
  /** Set if the exporter reports the processes of a shared device separately. */
  readonly process?: MeasuredProcess;
}

/** The activity of the holder's own processes, as parts of the device, over the covered time. */
export interface MeasuredProcess {
  /** In each sample limited to the holder's claim, as the claim is written. */
  readonly atClaimPpmMillis: bigint;
  /** In each sample limited to an equal part of the device for each pod on it. */
  readonly atOccupantPpmMillis: bigint;
  /** In each sample limited to the holder's part of the total activity. */
  readonly atUsagePpmMillis: bigint;
}

/** The stage of a holder: no container has run yet (`starting`); the gang has never been complete (`waiting`); neither (`running`). */
export type Stage = "starting" | "waiting" | "running";

/** A claim on a GPU with the measurements of its holder. */
export interface UsageClaim {
  readonly claim: Claim;
  readonly stage: Stage;
  readonly measured: Measured;
}

/** The measured energy of a whole GPU over a segment, idle watts included. */
export interface MeasuredEnergy {
  /** Energy at the GPU: the increase of its counter, or power × time if there is no counter. */
  readonly millijoules: bigint;
  /** Time with a measurement of either kind; 0 if nothing was measured. */
  readonly coveredMillis: number;
}

/** The value if nothing was measured. */
export const NO_ENERGY: MeasuredEnergy = { millijoules: 0n, coveredMillis: 0 };

/**
 * One GPU over the longest time in which its claims, layout and state stay the same. This is the meter's result, independent of any policy.
 */
export interface UsageSegment {
  /** Milliseconds since the epoch, half-open. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly gpu: GpuAt;
  /** The reason why an inactive GPU cannot be used: `not-ready`, `withdrawn`, `xid-79`, `absent`; empty if it can be used. */
  readonly unavailableBecause: string;
  /** The node accepts no new pods. */
  readonly isCordoned: boolean;
  /** Time in which any part of the GPU was measured as active, for any holder. */
  readonly busyMillis: number;
  readonly energy: MeasuredEnergy;
  readonly claims: readonly UsageClaim[];
}
