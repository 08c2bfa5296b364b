import type { HeldState } from "../allocation/allocate.ts";
import { createSplit } from "../exact/split.ts";
import type { Carbon, GpuHours, Money } from "../exact/units.ts";
import { phaseOf, type RunPhase } from "./phases.ts";
import { firstAfter } from "./step-count.ts";
import type { Stretch, Timeline } from "./timeline.ts";

/** The amounts of charge lines that a bill divides. Amounts that a line lacks count as 0. */
export interface RunAmounts {
  readonly gpuHours: GpuHours;
  /** The GPU-hours of lines without a price. */
  readonly unpricedGpuHours: GpuHours;
  readonly list: Money;
  readonly contracted: Money;
  readonly effective: Money;
  readonly power: Money;
  readonly millijoules: bigint;
  readonly carbon: Carbon;
}

/** The names of {@link RunAmounts}. */
export const AMOUNT_NAMES = [
  "gpuHours",
  "unpricedGpuHours",
  "list",
  "contracted",
  "effective",
  "power",
  "millijoules",
  "carbon",
] as const satisfies readonly (keyof RunAmounts)[];

/** The sums of the charge lines of a lane that have the same time and state. Times are milliseconds since the epoch, half-open. */
export interface LaneCharge {
  readonly lane: number;
  readonly from: number;
  readonly until: number;
  readonly state: HeldState;
  readonly amounts: RunAmounts;
}

/** A part of a bill. */
export interface BillPart {
  readonly lane: number;
  readonly phase: RunPhase;
  /** The index of the stop in the lane's timeline that caused the part; undefined if none did. */
  readonly stop: number | undefined;
  readonly amounts: RunAmounts;
}

/** Returns the sums of amounts, name by name. */
export function sumAmounts(all: readonly RunAmounts[]): RunAmounts {
  return amountsOf(AMOUNT_NAMES.map((name) => all.reduce<bigint>((sum, amounts) => sum + amounts[name], 0n)));
}

/** Returns amounts in the order of {@link AMOUNT_NAMES} by their names. */
export function amountsOf(values: readonly bigint[]): RunAmounts {
  return Object.fromEntries(AMOUNT_NAMES.map((name, index) => [name, values[index]!])) as unknown as RunAmounts;
}

/**
 * Divides charges over the phases and stops of their lanes. Each charge is split in proportion to the time of each part within it, by
 * largest remainder with ties in the order of time, so that the parts sum exactly to the charges in every amount. The ledger knows how long
 * a GPU was active within a line, not when.
 */
export function billOf(charges: readonly LaneCharge[], timelines: readonly Timeline[]): readonly BillPart[] {
  const parts = new Map<string, Omit<BillPart, "amounts"> & { readonly sums: bigint[] }>();
  const ends = timelines.map(({ stretches }) => stretches.map(({ until }) => until));
  for (const charge of charges) {
    const { lane, amounts } = charge;
    const shares = sharesOf(charge, timelines[lane]!.stretches, ends[lane]!);
    const splitShares = createSplit(shares.map(({ millis }) => millis))!;
    const split = AMOUNT_NAMES.map((name) => splitShares<bigint>(amounts[name]));
    shares.forEach(({ phase, stop }, share) => {
      const key = `${lane} ${phase} ${stop}`;
      const part = parts.get(key) ?? { lane, phase, stop, sums: AMOUNT_NAMES.map(() => 0n) };
      parts.set(key, part);
      split.forEach((ofShares, name) => (part.sums[name]! += ofShares[share]!));
    });
  }
  return [...parts.values()].map(({ sums, ...part }) => ({ ...part, amounts: amountsOf(sums) }));
}

interface Share {
  readonly phase: RunPhase;
  readonly stop: number | undefined;
  millis: number;
}

/** Returns the times of a charge by phase and stop, in order of their first moment. */
function sharesOf(charge: LaneCharge, stretches: readonly Stretch[], ends: readonly number[]): readonly Share[] {
  const { from, until, state } = charge;
  const shares: Share[] = [];
  for (let index = firstAfter(ends, from); index < stretches.length && stretches[index]!.from < until; index++) {
    const stretch = stretches[index]!;
    const phase = phaseOf(state, stretch.phase);
    const isCaused = phase === stretch.phase || (phase === "waiting" && stretch.phase === "recovering");
    const stop = isCaused ? stretch.stop : undefined;
    const millis = Math.min(until, stretch.until) - Math.max(from, stretch.from);
    const known = shares.find((share) => share.phase === phase && share.stop === stop);
    if (known === undefined) shares.push({ phase, stop, millis });
    else known.millis += millis;
  }
  return shares;
}
