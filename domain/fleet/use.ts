import { rational, roundedDecimal } from "../exact/rational.ts";
import type { GpuHours } from "../exact/units.ts";

/** The activity below which a GPU is unused. Alerts compare its maximum over some time; here it is a holder's mean over an hour. */
export const UNUSED_BELOW = 0.01;

/** The GPU-hours of a fleet over a time, by use. */
export interface FleetHours {
  /** All GPU-hours: the capacity. */
  readonly total: GpuHours;
  /** Held by workloads, in any state. */
  readonly held: GpuHours;
  /** Unavailable hours, held or free. */
  readonly unavailable: GpuHours;
  /** Held hours that were unavailable. */
  readonly heldUnavailable: GpuHours;
  /** Held hours in which the holder was starting. */
  readonly starting: GpuHours;
  /** Held hours in which the holder waited for the rest of its gang. */
  readonly waiting: GpuHours;
  /** Held hours with a mean activity below {@link UNUSED_BELOW}. */
  readonly unused: GpuHours;
  /** The active part of the held hours. */
  readonly active: GpuHours;
}

/** The usage ratios of a fleet (docs/glossary.md). Ratios are decimal texts. */
export interface FleetUse {
  /** Held hours that were not unavailable, starting, waiting or unused. */
  readonly effective: GpuHours;
  /** The rest of the total, unallocated time included. */
  readonly wasted: GpuHours;
  /** Active ÷ total; null if the total is 0. */
  readonly utilization: string | null;
  /** Held ÷ holdable, both without unavailable hours; null if there was nothing to hold. */
  readonly schedulingEfficiency: string | null;
}

const RATIO_DIGITS = 6;

/** Computes the usage ratios of a fleet (docs/glossary.md). */
export function fleetUse(hours: FleetHours): FleetUse {
  const { total, held, unavailable, heldUnavailable, starting, waiting, unused, active } = hours;
  const effective = held - heldUnavailable - starting - waiting - unused;
  return {
    effective: effective as GpuHours,
    wasted: (total - effective) as GpuHours,
    utilization: quotient(active, total),
    schedulingEfficiency: quotient(held - heldUnavailable, total - unavailable),
  };
}

function quotient(part: bigint, whole: bigint): string | null {
  return whole <= 0n ? null : roundedDecimal(rational(part, whole), RATIO_DIGITS);
}
