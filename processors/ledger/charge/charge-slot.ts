import { allocate, type Allocation } from "../../../domain/allocation/allocate.ts";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import { chargeGpu, type AllocatedSegment, type ChargeLine } from "../../../domain/charge/charge-gpu.ts";
import { carbonOf } from "../../../domain/energy/carbon.ts";
import type { EnergyFactors } from "../../../domain/energy/factors.ts";
import { gpuHoursSince } from "../../../domain/exact/accrual.ts";
import { gpuPartOf } from "../../../domain/gpu-model/instance-types.ts";
import { partOfSpan, type Millis } from "../../../domain/exact/part-of-span.ts";
import { multiply, rational, type Rational } from "../../../domain/exact/rational.ts";
import type { Carbon } from "../../../domain/exact/units.ts";
import type { ShareMeasures } from "../../../domain/share/claim.ts";
import type { NodePrices, PiecePrice, PricePiece } from "./node-prices.ts";

/** The part of a usage row that is in one price piece and has one owner. */
export interface SlotSegment extends AllocatedSegment {
  readonly hour: UsageHour;
  /** The allocation of the whole row. */
  readonly whole: Allocation;
  readonly price: PiecePrice | undefined;
}

/** A part of a slot's time and cost. */
export type SlotLine = ChargeLine<SlotSegment>;

/** The charges of one slot over a time in which its machine did not change. */
export interface ChargedSlot {
  readonly lines: readonly SlotLine[];
  readonly pieces: readonly PricePiece[];
  /** The usage rows of the charges, with the carbon of each. */
  readonly segments: readonly EmittingSegment[];
}

/** A usage row and the emissions of its energy; undefined if unknown. */
export interface EmittingSegment {
  readonly hour: UsageHour;
  readonly carbon: Carbon | undefined;
}

/** The rules for charging slots, in addition to a policy's measures. */
export interface SlotRules {
  readonly prices: NodePrices;
  /** The times at which owner rules change. */
  readonly ownerChanges: readonly number[];
  /** If undefined, charges have no carbon. */
  readonly energy: EnergyFactors | undefined;
}

/**
 * Divides the time and the cost of one slot over its holders, under a policy's measures. Its segments are adjacent, within one hour, and of
 * one unchanged machine. If a price begins inside a segment, because the price was unknown when the segment was metered, the segment and
 * its energy are split there by time. The same happens at `ownerChanges`.
 */
export function chargeSlot(
  hours: readonly UsageHour[],
  measures: ShareMeasures,
  { prices, ownerChanges, energy }: SlotRules,
): ChargedSlot {
  const [first] = hours as [UsageHour];
  const { cluster, node, slot, machine } = first;
  const from = first.segment.fromMillis;
  const until = hours.at(-1)!.segment.untilMillis;
  const { model } = first.segment.gpu;
  const pieces = prices.pieces({ cluster, node, model, machine }, from, until);
  const gpuHours = gpuHoursSince(machine.appearedAt, gpuPartOf(machine.instanceType));
  const allocated = hours.map((hour) => ({
    hour,
    allocation: allocate(hour.segment, measures),
    carbon: energy === undefined ? undefined : carbonOf(hour.segment, energy),
  }));
  const lines = pieces.flatMap(({ fromMillis, untilMillis, price }) => {
    const parts: SlotSegment[] = [];
    for (const { hour, allocation, carbon } of allocated) {
      for (const part of cut(hour, [fromMillis, untilMillis], ownerChanges)) {
        parts.push({
          fromMillis: part.fromMillis,
          untilMillis: part.untilMillis,
          hour,
          whole: allocation,
          price,
          allocation: scaled(allocation, hour, part),
          millijoules: energyOf(hour, part),
          carbon: carbon === undefined ? undefined : partOfSpan(carbon, hour.segment, part),
        });
      }
    }
    const power = price?.power(hours.map(({ segment }) => segment));
    return chargeGpu({ fromMillis, untilMillis, costs: price?.gpu(slot), power }, parts, gpuHours);
  });
  return { lines, pieces, segments: allocated };
}

/** Returns the measured energy of a part of a segment; undefined if nothing was measured in the segment. */
function energyOf({ segment }: UsageHour, part: Millis): bigint | undefined {
  const { millijoules, coveredMillis } = segment.energy;
  return coveredMillis === 0 ? undefined : partOfSpan(millijoules, segment, part);
}

/**
 * Returns the parts of a segment that are in a piece, cut where an owner rule changes. Free shares are cut too, because their pool has an
 * owner.
 */
function cut(
  { segment }: UsageHour,
  [pieceFrom, pieceUntil]: readonly [number, number],
  changes: readonly number[],
): readonly Millis[] {
  const from = Math.max(pieceFrom, segment.fromMillis);
  const until = Math.min(pieceUntil, segment.untilMillis);
  if (from >= until) return [];
  const edges = [from, ...changes.filter((at) => from < at && at < until), until];
  return edges.slice(1).map((end, index) => ({ fromMillis: edges[index]!, untilMillis: end }));
}

/** Returns the allocation of a part of a segment, in proportion to its time. */
function scaled(allocation: Allocation, { segment }: UsageHour, part: Millis): Allocation {
  const length = segment.untilMillis - segment.fromMillis;
  const own = part.untilMillis - part.fromMillis;
  if (own === length) return allocation;
  const factor = rational(own, length);
  return {
    ...allocation,
    held: allocation.held.map((held) => ({ ...held, states: times(held.states, factor) })),
    free: times(allocation.free, factor),
  };
}

function times<State extends string>(
  states: Readonly<Record<State, Rational>>,
  factor: Rational,
): Record<State, Rational> {
  const entries = Object.entries<Rational>(states).map(([state, amount]) => [state, multiply(amount, factor)]);
  return Object.fromEntries(entries) as Record<State, Rational>;
}
