import type { Allocation, FreeState, HeldState } from "../allocation/allocate.ts";
import { add, compare, ZERO, type Rational } from "../exact/rational.ts";
import { split } from "../exact/split.ts";
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
  const hoursOf = splitFully(gpuHours, lengths);
  const costsOf = costs === undefined ? undefined : perKind(costs, (cost) => splitFully(cost, lengths));
  const powerOf = power === undefined ? undefined : splitFully(power, lengths);
  return segments.flatMap((segment, index) => {
    const { allocation, millijoules, carbon } = segment;
    const parts = partsOf(allocation);
    const partHours = splitParts(hoursOf[index]!, parts);
    const partCosts =
      costsOf === undefined
        ? undefined
        : perKind(
            perKind(costsOf, (amounts) => amounts[index]!),
            (cost) => splitParts(cost, parts),
          );
    const partPower = powerOf === undefined ? undefined : splitParts(powerOf[index]!, parts);
    const partEnergy = millijoules === undefined ? undefined : splitParts(millijoules, parts);
    const partCarbon = carbon === undefined ? undefined : splitParts(carbon, parts);
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
  readonly weight: Rational;
}

function partsOf({ held, free }: Allocation): readonly Part[] {
  const parts = held.map(({ states }, claim) =>
    partOf(
      claim,
      HELD_STATES.map((state) => ({ state, weight: states[state] })),
    ),
  );
  parts.push(
    partOf(
      undefined,
      FREE_STATES.map((state) => ({ state, weight: free[state] })),
    ),
  );
  return parts.filter(({ states }) => states.length > 0);
}

function partOf(claim: number | undefined, all: Part["states"]): Part {
  const states = all.filter(({ weight }) => compare(weight, ZERO) > 0);
  return { claim, states, weight: states.reduce((sum, { weight }) => add(sum, weight), ZERO) };
}

function splitParts<Count extends bigint>(amount: Count, parts: readonly Part[]): readonly (readonly Count[])[] {
  const amounts = splitFully(
    amount,
    parts.map(({ weight }) => weight),
  );
  return parts.map(({ states }, index) =>
    splitFully(
      amounts[index]!,
      states.map(({ weight }) => weight),
    ),
  );
}

/** Segments fill their piece and states their segment: there is always somebody to take it. */
function splitFully<Count extends bigint>(amount: Count, weights: Parameters<typeof split>[1]): readonly Count[] {
  const parts = split(amount, weights);
  if (parts === undefined) throw new RangeError("there is nobody to charge");
  return parts;
}
