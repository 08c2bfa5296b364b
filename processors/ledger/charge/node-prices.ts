import type { UsageSegment } from "../../../domain/allocation/segment.ts";
import type { UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { Costs } from "../../../domain/charge/charge.ts";
import { incurredIn } from "../../../domain/exact/accrual.ts";
import { compare } from "../../../domain/exact/rational.ts";
import { roundToLastUnit, type Money } from "../../../domain/exact/units.ts";
import type { CostKind, PriceBook, PriceEntry } from "../../../domain/price/book.ts";
import type { InvoiceStatus } from "../../../domain/invoice/rules.ts";
import { gpuPartOf } from "../../../domain/gpu-model/instance-types.ts";
import { costSince, divideNodeCost } from "../../../domain/price/cost.ts";
import { priceFactsOf } from "../../../domain/price/facts.ts";
import { perKind } from "../../../domain/price/kinds.ts";
import { powerOfGpu } from "../../../domain/price/power.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { originOf, stretches, type Stretch } from "../../../domain/price/stretch.ts";

/** A part of an hour in which one entry prices a GPU, or none does. */
export interface PricePiece {
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** Undefined if no entry prices the piece. */
  readonly price: PiecePrice | undefined;
}

/** The costs of a piece by one entry. */
export interface PiecePrice {
  readonly entry: PriceEntry;
  readonly since: number;
  /** Absent in a ledger without exports. */
  readonly status?: InvoiceStatus;
  /** Returns the costs of one slot, without power. */
  gpu(slot: number): Costs;
  /** Returns the power cost of one slot with these segments; undefined if the entry has no price of power. */
  power(segments: readonly UsageSegment[]): Money | undefined;
  /** The part of the node's cost that the GPUs do not bear; undefined for a price per GPU. */
  readonly nonGpu: Costs | undefined;
}

/** The machine and the model of a priced GPU. */
export interface PricedMachine {
  readonly cluster: string;
  readonly node: string;
  readonly model: string | undefined;
  readonly machine: UsageMachine;
}

/** Half-open, milliseconds since the epoch. */
type Span = readonly [from: number, until: number];

/** A price book, prepared for use on many hours. */
export interface NodePrices {
  readonly book: PriceBook;
  /** Returns the pieces of a span of one hour, without a gap. */
  pieces(of: PricedMachine, fromMillis: number, untilMillis: number): readonly PricePiece[];
}

/**
 * Creates the prices of a book. A cost counts from the latest of the entry's date, the slot's appearance, and the moment at which the entry
 * began to win for the machine in its current state (docs/decisions/0011).
 */
export function createNodePrices(book: PriceBook): NodePrices {
  const ranked = rankEntries(book.prices);
  function priceOf(
    entry: PriceEntry,
    origin: number,
    { delivered, instanceType }: UsageMachine,
    [from, until]: Span,
  ): PiecePrice {
    const of = { originMillis: origin, part: gpuPartOf(instanceType) };
    const costs = perKind(kindsOf(entry), (kind) => incurredIn(costSince(entry, kind, of, book), from, until));
    if (entry.per === "gpu-hour")
      return { entry, since: origin, gpu: () => costs, power: () => undefined, nonGpu: undefined };
    const divided = perKind(costs, (cost) => divideNodeCost(cost, delivered, entry.gpuPart));
    return {
      entry,
      since: origin,
      gpu: (slot) => perKind(divided, ({ gpus }) => gpus[slot]!),
      power(segments) {
        if (entry.per !== "owned") return undefined;
        const exact = powerOfGpu(entry, segments, { span: { fromMillis: from, untilMillis: until }, delivered }, book);
        return exact === undefined ? undefined : roundToLastUnit(exact);
      },
      nonGpu: perKind(divided, ({ nonGpu }) => nonGpu),
    };
  }

  // Rows of one machine share its object, and most machines have the same price for many hours.
  const known = new WeakMap<UsageMachine, { readonly of: PricedMachine; readonly stretches: readonly Stretch[] }>();
  function stretchesOf(of: PricedMachine): readonly Stretch[] {
    const last = known.get(of.machine);
    if (last !== undefined && isSame(last.of, of)) return last.stretches;
    const all = stretches(ranked, priceFactsOf(of, of.machine), -Infinity, Infinity);
    known.set(of.machine, { of, stretches: all });
    return all;
  }

  function piecesOf(of: PricedMachine, from: number, until: number): readonly PricePiece[] {
    const { machine } = of;
    const all = stretchesOf(of).filter((stretch) => stretch.fromMillis < until && stretch.untilMillis > from);
    return all.map((stretch): PricePiece => {
      const fromMillis = Math.max(from, stretch.fromMillis);
      const untilMillis = Math.min(until, stretch.untilMillis);
      const { winner } = stretch;
      if (winner.kind !== "priced") return { fromMillis, untilMillis, price: undefined };
      const { entry } = winner;
      const appeared = originOf(stretch, machine.appearedAt);
      const origin = entry.per === "owned" ? appeared : Math.max(appeared, machine.since);
      return { fromMillis, untilMillis, price: priceOf(entry, origin, machine, [fromMillis, untilMillis]) };
    });
  }

  // A cache of the last result, because the slots of a machine have the same price and are priced one after the other.
  let last: { readonly of: PricedMachine; readonly span: Span; readonly pieces: readonly PricePiece[] } | undefined;
  return {
    book,
    pieces(of, from, until) {
      if (last?.span[0] !== from || last.span[1] !== until || !isSame(last.of, of))
        last = { of, span: [from, until], pieces: piecesOf(of, from, until) };
      return last.pieces;
    },
  };
}

function isSame(one: PricedMachine, other: PricedMachine): boolean {
  return (
    one.machine === other.machine &&
    one.model === other.model &&
    one.node === other.node &&
    one.cluster === other.cluster
  );
}

/** Maps each kind of cost to the kind that is computed for it, so that equal prices are computed once. */
function kindsOf(entry: PriceEntry): Readonly<Record<CostKind, CostKind>> {
  if (entry.per === "owned") return { list: "list", contracted: "list", effective: "list" };
  const { list, contracted, effective } = entry.prices;
  const ofContracted = compare(contracted, list) === 0 ? "list" : "contracted";
  return {
    list: "list",
    contracted: ofContracted,
    effective: compare(effective, contracted) === 0 ? ofContracted : "effective",
  };
}
