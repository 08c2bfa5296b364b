import type { Allocation, FreeState, HeldState } from "../allocation/allocate.ts";
import { add, ZERO, type Rational } from "../exact/rational.ts";
import { createSplit, type Weight } from "../exact/split.ts";
import { difference, lastUnits, type Carbon, type GpuHours, type Money } from "../exact/units.ts";
import type { Accrual } from "../exact/accrual.ts";
import type { CostKind } from "../price/book.ts";
import { perKind } from "../price/kinds.ts";

/** What a GPU costs over a piece of one hour in which one price holds; absent costs are those of a GPU without a price. */
export interface PricedPiece {
  /** Milliseconds since the epoch, half-open, within one UTC hour. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
  /** What power costs besides, the same in each kind; absent where the price has no power. */
  readonly power?: Money | undefined;
}

/** A segment of a GPU within one price piece, divided among who held it. */
export interface AllocatedSegment {
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly allocation: Allocation;
  /** At the GPU; absent where nothing was measured. */
  readonly millijoules?: bigint | undefined;
  /** Absent where nothing says what its energy has emitted. */
  readonly carbon?: Carbon | undefined;
}

/** A part of a GPU's time and cost: who held it, in which state. */
export interface ChargeLine<Segment extends AllocatedSegment = AllocatedSegment> {
  /** The one that it is of. */
  readonly segment: Segment;
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** The claim's place in the segment's allocation; undefined for what was free. */
  readonly claim: number | undefined;
  readonly state: HeldState | FreeState;
  /** Exact GPU-milliseconds: the share times its time. */
  readonly shareMillis: Rational;
  readonly gpuHours: GpuHours;
  /** Power included. Absent where no price was visible: the quantity is reported, and costs neither nothing nor a default. */
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
  /** Of each of the costs, what power costs; absent where the price has no power. */
  readonly power: Money | undefined;
  readonly millijoules: bigint | undefined;
  readonly carbon: Carbon | undefined;
}

/** The order of ties (ledger, "Words"). */
const HELD_STATES: readonly HeldState[] = ["unavailable", "starting", "waiting", "unobserved", "active", "idle"];
const FREE_STATES: readonly FreeState[] = ["unavailable", "stranded", "unallocated"];

/**
 * Splits the time and the cost of a GPU over a price piece: over its segments by their length, each over its holders and what is
 * free by their GPU-milliseconds, each over its states; at every step by largest remainder, so that the lines sum to the
 * piece exactly, in GPU-hours, in every kind of cost and in what power costs. The energy and the carbon of a segment are split
 * in the same way among those who had a share of it. The segments fill the piece without a gap, in the order of time. `hours`
 * counts the GPU-hours of the slot since it appeared.
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
      states.map(({ state, weight }, place): ChargeLine<Segment> => {
        const ofPower = partPower?.[part]![place];
        const costOf = (amounts: readonly (readonly Money[])[]): Money =>
          lastUnits(amounts[part]![place]! + (ofPower ?? 0n));
        return {
          segment,
          fromMillis: segment.fromMillis,
          untilMillis: segment.untilMillis,
          claim,
          state,
          shareMillis: weight,
          gpuHours: partHours[part]![place]!,
          costs: partCosts === undefined ? undefined : perKind(partCosts, costOf),
          power: ofPower,
          millijoules: partEnergy?.[part]![place],
          carbon: partCarbon?.[part]![place],
        };
      }),
    );
  });
}

/** A holder, or what is free, with the states that have any time. */
interface Part {
  readonly claim: number | undefined;
  readonly states: readonly { readonly state: HeldState | FreeState; readonly weight: Rational }[];
}

function partsOf({ held, free }: Allocation): readonly Part[] {
  const parts: Part[] = held.map(({ states }, claim) => ({ claim, states: lasting(HELD_STATES, states) }));
  parts.push({ claim: undefined, states: lasting(FREE_STATES, free) });
  return parts.filter(({ states }) => states.length > 0);
}

/** The states that have any time, in their order. */
function lasting<State extends HeldState | FreeState>(
  order: readonly State[],
  weights: Readonly<Record<State, Rational>>,
): Part["states"] {
  const states: { state: State; weight: Rational }[] = [];
  for (const state of order) if (weights[state].num > 0n) states.push({ state, weight: weights[state] });
  return states;
}

/** Divides amounts over parts, and over the states of each. */
function createDivision(
  parts: readonly Part[],
): <Count extends bigint>(amount: Count) => readonly (readonly Count[])[] {
  const overParts = splitFully(
    parts.length === 1 ? [1] : parts.map(({ states }) => states.reduce((sum, { weight }) => add(sum, weight), ZERO)),
  );
  const overStates = parts.map(({ states }) => splitFully(states.map(({ weight }) => weight)));
  return (amount) => overParts(amount).map((ofPart, index) => overStates[index]!(ofPart));
}

/** Segments fill their piece and states their segment: there is always somebody to take it. */
function splitFully(weights: readonly Weight[]): <Count extends bigint>(amount: Count) => readonly Count[] {
  const divide = createSplit(weights);
  if (divide === undefined) throw new RangeError("there is nobody to charge");
  return divide;
}
