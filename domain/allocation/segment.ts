import type { Claim } from "../share/claim.ts";
import type { GpuAt } from "../share/layout.ts";

/**
 * What samples said of a claim over a segment, in whole milliseconds and in parts per million times milliseconds: every sum
 * that a policy can use (ledger, "Closing"), so that a policy of years later needs no samples. Activity is of the device that
 * the claim is on: the GPU, or its instance or partition.
 */
export interface Measured {
  /** Time for which samples speak for this holder. */
  readonly coveredMillis: number;
  /** Of that, the time in which the device was active at all. */
  readonly busyMillis: number;
  /** The device's activity, at most all of the device. */
  readonly activityPpmMillis: bigint;
  /** The same, in each sample at most what was held of the device: by all claims on it, as they are written. */
  readonly activityAtClaimsPpmMillis: bigint;
  /** Set where the exporter tells the processes of a shared device apart. */
  readonly process?: MeasuredProcess;
}

/** The activity of a holder's own processes, as parts of the device, over the covered time. */
export interface MeasuredProcess {
  /** In each sample at most what the holder claims, as the claim is written. */
  readonly atClaimPpmMillis: bigint;
  /** In each sample at most an equal part of the device for each pod on it. */
  readonly atOccupantPpmMillis: bigint;
  /** In each sample at most the holder's part in the activity of all. */
  readonly atUsagePpmMillis: bigint;
}

/** What a holder does with its claim: no container has run yet; the gang has never been whole; neither. */
export type Stage = "starting" | "waiting" | "running";

/** A claim on a GPU with what was measured for its holder. */
export interface UsageClaim {
  readonly claim: Claim;
  readonly stage: Stage;
  readonly measured: Measured;
}

/** Energy that was measured of a whole GPU over a segment, idle watts included (ledger, "Energy and carbon"). */
export interface MeasuredEnergy {
  /** At the GPU: what its counter rose by, else power × time. */
  readonly millijoules: bigint;
  /** Time for which either speaks; 0 where nothing was measured. */
  readonly coveredMillis: number;
}

/** Nothing was measured. */
export const NO_ENERGY: MeasuredEnergy = { millijoules: 0n, coveredMillis: 0 };

/**
 * One GPU over the longest time in which its claims, layout and state stay the same: what the meter found, untouched by any
 * policy.
 */
export interface UsageSegment {
  /** Milliseconds since the epoch, half-open. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly gpu: GpuAt;
  /** Why the GPU cannot be used while it does nothing: `not-ready`, `withdrawn`, `xid-79`, `absent`; empty where it can. */
  readonly unavailableBecause: string;
  /** Nothing new is put onto the node. */
  readonly isCordoned: boolean;
  /** Time in which any part of the GPU was measured to be active, whoever held it. */
  readonly busyMillis: number;
  readonly energy: MeasuredEnergy;
  readonly claims: readonly UsageClaim[];
}
