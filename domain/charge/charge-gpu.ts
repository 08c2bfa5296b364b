import type { Allocation, FreeState, HeldState } from "../allocation/allocate.ts";
import { add, compare, ZERO, type Rational } from "../exact/rational.ts";
import { split } from "../exact/split.ts";
import { difference, type Amount, type GpuHours, type Money, type Quantity } from "../exact/units.ts";
import type { Accrual } from "../exact/accrual.ts";
import type { CostKind } from "../price/book.ts";

/** What a GPU costs over a piece of one hour in which one price holds; absent costs are those of a GPU without a price. */
export interface PricedPiece {
  /** Milliseconds since the epoch, half-open, within one UTC hour. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
}

/** A segment of a GPU within one price piece, divided among who held it. */
export interface AllocatedSegment {
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly allocation: Allocation;
}

/** A part of a GPU's time and cost: who held it, in which state. */
export interface ChargeLine {
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** The claim's place in the segment's allocation; undefined for what was free. */
  readonly claim: number | undefined;
  readonly state: HeldState | FreeState;
  /** Exact GPU-milliseconds: the share times its time. */
  readonly shareMillis: Rational;
  readonly gpuHours: GpuHours;
  /** Absent where no price was visible: the quantity is reported, and costs neither nothing nor a default. */
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
}

const KINDS: readonly CostKind[] = ["list", "contracted", "effective"];
/** The order of ties (ledger, "Words"). */
const HELD_STATES: readonly HeldState[] = ["unavailable", "starting", "waiting", "unobserved", "active", "idle"];
const FREE_STATES: readonly FreeState[] = ["unavailable", "stranded", "unallocated"];

/**
 * Splits the time and the cost of a GPU over a price piece: over its segments by their length, each over its holders and what is
 * free by their GPU-milliseconds, each over its states; at every step by largest remainder, so that the lines sum to the
 * piece exactly, in GPU-hours and in every kind of cost. The segments fill the piece without a gap, in the order of time.
 * `hours` counts the GPU-hours of the slot since it appeared.
 */
export function chargeGpu(
  piece: PricedPiece,
  segments: readonly AllocatedSegment[],
  hours: Accrual<"gpu-hour">,
): readonly ChargeLine[] {
  const { fromMillis, untilMillis, costs } = piece;
  const lengths = segments.map((segment) => segment.untilMillis - segment.fromMillis);
  const gpuHours = difference(hours.roundedAt(untilMillis), hours.roundedAt(fromMillis));
  const hoursOf = splitFully(gpuHours, lengths);
  const costsOf = costs === undefined ? undefined : eachKind((kind) => splitFully(costs[kind], lengths));
  return segments.flatMap((segment, index) => {
    const parts = partsOf(segment.allocation);
    const partHours = splitParts(hoursOf[index]!, parts);
    const partCosts = costsOf === undefined ? undefined : eachKind((kind) => splitParts(costsOf[kind][index]!, parts));
    return parts.flatMap(({ claim, states }, part) =>
      states.map(({ state, weight }, place): ChargeLine => ({
        fromMillis: segment.fromMillis,
        untilMillis: segment.untilMillis,
        claim,
        state,
        shareMillis: weight,
        gpuHours: partHours[part]![place]!,
        costs: partCosts === undefined ? undefined : eachKind((kind) => partCosts[kind][part]![place]!),
      })),
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

function splitParts<Of extends Quantity>(
  amount: Amount<Of>,
  parts: readonly Part[],
): readonly (readonly Amount<Of>[])[] {
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
function splitFully<Of extends Quantity>(
  amount: Amount<Of>,
  weights: Parameters<typeof split>[1],
): readonly Amount<Of>[] {
  const parts = split(amount, weights);
  if (parts === undefined) throw new RangeError("there is nobody to charge");
  return parts;
}

function eachKind<Value>(of: (kind: CostKind) => Value): Record<CostKind, Value> {
  return Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as Record<CostKind, Value>;
}
