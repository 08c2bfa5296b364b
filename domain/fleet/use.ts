import { rational, roundedDecimal } from "../exact/rational.ts";
import type { GpuHours } from "../exact/units.ts";

/** The activity below which a GPU is unused: of the alerts its largest over some time, here a holder's mean over an hour. */
export const UNUSED_BELOW = 0.01;

/** The GPU-hours of a fleet over a time, by what was done with them. */
export interface FleetHours {
  /** All there are: the capacity. */
  readonly total: GpuHours;
  /** Held by workloads, whatever came of it. */
  readonly held: GpuHours;
  /** What nobody could use, held or free. */
  readonly unavailable: GpuHours;
  /** Of what was held: what could not be used, what started, what waited for the rest of its gang, and what nobody used. */
  readonly heldUnavailable: GpuHours;
  readonly starting: GpuHours;
  readonly waiting: GpuHours;
  readonly unused: GpuHours;
  /** Of what was held, the part that was active. */
  readonly active: GpuHours;
}

/** How a fleet was used, by the words that people have for it (ledger, "Words for people"); ratios as decimal texts. */
export interface FleetUse {
  /** Held shares that were not unavailable, starting, waiting or unused. */
  readonly effective: GpuHours;
  /** The rest of the total, unallocated time included. */
  readonly wasted: GpuHours;
  /** Active by total; null of nothing. */
  readonly utilisation: string | null;
  /** Held by what could be held: the total without what was unavailable; null where there was nothing. */
  readonly schedulingEfficiency: string | null;
}

const RATIO_DIGITS = 6;

/** What a fleet's hours come to (ledger, "Words for people"). */
export function fleetUse(hours: FleetHours): FleetUse {
  const { total, held, unavailable, heldUnavailable, starting, waiting, unused, active } = hours;
  const effective = held - heldUnavailable - starting - waiting - unused;
  return {
    effective: effective as GpuHours,
    wasted: (total - effective) as GpuHours,
    utilisation: quotient(active, total),
    schedulingEfficiency: quotient(held - heldUnavailable, total - unavailable),
  };
}

function quotient(part: bigint, whole: bigint): string | null {
  return whole <= 0n ? null : roundedDecimal(rational(part, whole), RATIO_DIGITS);
}
