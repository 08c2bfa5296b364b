import type { Allocation, FreeState, HeldState } from "../allocation/allocate.ts";
import { add, ZERO, type Rational } from "../exact/rational.ts";
import { createSplit, type Weight } from "../exact/split.ts";
import { difference, lastUnits, type Carbon, type GpuHours, type Money } from "../exact/units.ts";
import type { Accrual } from "../exact/accrual.ts";
import type { CostKind } from "../price/book.ts";
import { perKind } from "../price/kinds.ts";

/** The costs of a GPU over a piece of one hour in which one price holds. `costs` is undefined for a GPU without a price. */
export interface PricedPiece {
  /** Milliseconds since the epoch, half-open, within one UTC hour. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
  /** The power cost in addition, the same in each kind; absent if the price has no power. */
  readonly power?: Money | undefined;
}

/** A segment of a GPU within one price piece, divided among its holders. */
export interface AllocatedSegment {
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly allocation: Allocation;
  /** Energy at the GPU, in millijoules; absent if nothing was measured. */
  readonly millijoules?: bigint | undefined;
  /** Absent if the emissions of its energy are unknown. */
  readonly carbon?: Carbon | undefined;
}

/** A part of a GPU's time and cost, with its holder and state. */
export interface ChargeLine<Segment extends AllocatedSegment = AllocatedSegment> {
  /** The segment of the line. */
  readonly segment: Segment;
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** The index of the claim in the segment's allocation; undefined for a free share. */
  readonly claim: number | undefined;
  readonly state: HeldState | FreeState;
  /** Exact GPU-milliseconds: the share times its duration. */
  readonly shareMillis: Rational;
  readonly gpuHours: GpuHours;
  /** Power is included. Undefined if no price applied: the quantity is reported, and the cost is neither 0 nor a default. */
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
  /** The part of each cost that is power; undefined if the price has no power. */
  readonly power: Money | undefined;
  readonly millijoules: bigint | undefined;
  readonly carbon: Carbon | undefined;
}

/** The order of states for ties. */
const HELD_STATES: readonly HeldState[] = ["unavailable", "starting", "waiting", "unobserved", "active", "idle"];
const FREE_STATES: readonly FreeState[] = ["unavailable", "stranded", "unallocated"];

/**
 * Splits the time and the cost of a GPU over a price piece: over its segments by their length, each segment over its holders and the free
 * share by GPU-milliseconds, and each of these over its states. Every step uses the largest remainder, so the lines sum to the piece
 * exactly, in GPU-hours, in every kind of cost and in power cost. The energy and the carbon of a segment are split in the same way among
 * those who had a share of it. The segments fill the piece without a gap, in order of time. `hours` counts the GPU-hours of the slot since
 * it appeared.
 */
export function chargeGpu<Segment extends AllocatedSegment>(
  piece: PricedPiece,
  segments: readonly Segment[],
  hours: Accrual<"gpu-hour">,
): readonly ChargeLine<Segment>[] {
  const { fromMillis, untilMillis, costs, power } = piece;
  const lengths = segments.map((segment) => segment.untilMillis - segment.fromMillis);
  const gpuHours = difference(hours.roundedAt(untilMillis), hours.roundedAt(fromMillis));
  const overSegments = splitFully(lengths);
  const hoursOf = overSegments(gpuHours);
  const costsOf = costs === undefined ? undefined : perKind(costs, overSegments);
  const powerOf = power === undefined ? undefined : overSegments(power);
  return segments.flatMap((segment, index) => {
    const { allocation, millijoules, carbon } = segment;
    const parts = partsOf(allocation);
    const divide = createDivision(parts);
    const partHours = divide(hoursOf[index]!);
    const partCosts =
      costsOf === undefined
        ? undefined
        : perKind(
            perKind(costsOf, (amounts) => amounts[index]!),
            divide,
          );
    const partPower = powerOf === undefined ? undefined : divide(powerOf[index]!);
    const partEnergy = millijoules === undefined ? undefined : divide(millijoules);
    const partCarbon = carbon === undefined ? undefined : divide(carbon);
    return parts.flatMap(({ claim, states }, part) =>
      states.map(({ state, weight }, stateIndex): ChargeLine<Segment> => {
        const ofPower = partPower?.[part]![stateIndex];
        const costOf = (amounts: readonly (readonly Money[])[]): Money =>
          lastUnits(amounts[part]![stateIndex]! + (ofPower ?? 0n));
        return {
          segment,
          fromMillis: segment.fromMillis,
          untilMillis: segment.untilMillis,
          claim,
          state,
          shareMillis: weight,
          gpuHours: partHours[part]![stateIndex]!,
          costs: partCosts === undefined ? undefined : perKind(partCosts, costOf),
          power: ofPower,
          millijoules: partEnergy?.[part]![stateIndex],
          carbon: partCarbon?.[part]![stateIndex],
        };
      }),
    );
  });
}

/** A holder, or the free share, with the states of non-zero time. */
interface Part {
  readonly claim: number | undefined;
  readonly states: readonly { readonly state: HeldState | FreeState; readonly weight: Rational }[];
}

function partsOf({ held, free }: Allocation): readonly Part[] {
  const parts: Part[] = held.map(({ states }, claim) => ({ claim, states: lasting(HELD_STATES, states) }));
  parts.push({ claim: undefined, states: lasting(FREE_STATES, free) });
  return parts.filter(({ states }) => states.length > 0);
}

/** Returns the states with non-zero time, in order. */
function lasting<State extends HeldState | FreeState>(
  order: readonly State[],
  weights: Readonly<Record<State, Rational>>,
): Part["states"] {
  const states: { state: State; weight: Rational }[] = [];
  for (const state of order) if (weights[state].num > 0n) states.push({ state, weight: weights[state] });
  return states;
}

/** Creates a function that divides amounts over parts, and over the states of each part. */
function createDivision(
  parts: readonly Part[],
): <Count extends bigint>(amount: Count) => readonly (readonly Count[])[] {
  const overParts = splitFully(
    parts.length === 1 ? [1] : parts.map(({ states }) => states.reduce((sum, { weight }) => add(sum, weight), ZERO)),
  );
  const overStates = parts.map(({ states }) => splitFully(states.map(({ weight }) => weight)));
  return (amount) => overParts(amount).map((ofPart, index) => overStates[index]!(ofPart));
}

/**
 * Creates a split that always succeeds, because segments fill their piece and states fill their segment. Throws a RangeError if all weights
 * are 0.
 */
function splitFully(weights: readonly Weight[]): <Count extends bigint>(amount: Count) => readonly Count[] {
  const divide = createSplit(weights);
  if (divide === undefined) throw new RangeError("there is no holder and no payer to charge");
  return divide;
}
