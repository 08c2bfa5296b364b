import type { UsageSegment } from "../../../domain/allocation/segment.ts";
import type { UsagePlace } from "../../../domain/allocation/usage-hour.ts";
import type { Costs } from "../../../domain/charge/charge.ts";
import { incurredIn } from "../../../domain/exact/accrual.ts";
import { compare } from "../../../domain/exact/rational.ts";
import { roundToLastUnit, type Money } from "../../../domain/exact/units.ts";
import type { CostKind, PriceBook, PriceEntry } from "../../../domain/price/book.ts";
import { gpuPartOf } from "../../../domain/gpu-model/instance-types.ts";
import { costSince, divideNodeCost } from "../../../domain/price/cost.ts";
import { priceFactsOf } from "../../../domain/price/facts.ts";
import { perKind } from "../../../domain/price/kinds.ts";
import { powerOfGpu } from "../../../domain/price/power.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { originOf, stretches } from "../../../domain/price/stretch.ts";

/** A part of an hour in which one entry prices a GPU, or none does. */
export interface PricePiece {
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** Undefined where nothing is visible that prices it. */
  readonly price: PiecePrice | undefined;
}

/** What an entry makes a piece cost. */
export interface PiecePrice {
  readonly entry: PriceEntry;
  readonly since: number;
  /** Of one slot, without power. */
  gpu(slot: number): Costs;
  /** What the power of one slot costs, whose segments these are; undefined where the entry has no price of power. */
  power(segments: readonly UsageSegment[]): Money | undefined;
  /** What the GPUs do not bear of the node; undefined for a price of GPUs. */
  readonly nonGpu: Costs | undefined;
}

/** Which GPU is priced: a machine's, as prices look at it. */
export interface PricedPlace {
  readonly cluster: string;
  readonly node: string;
  readonly model: string | undefined;
  readonly place: UsagePlace;
}

/** A price book, asked for hour after hour. */
export interface NodePrices {
  readonly book: PriceBook;
  /** The pieces of a span of one hour, without a gap. */
  pieces(of: PricedPlace, fromMillis: number, untilMillis: number): readonly PricePiece[];
}

/**
 * What a book makes of machines. A cost counts from the latest of the entry's date, the slot's appearance, and the moment at
 * which the entry began to win for the machine as it is (docs/decisions/0011).
 */
export function createNodePrices(book: PriceBook): NodePrices {
  const ranked = rankEntries(book.prices);
  function priceOf(
    entry: PriceEntry,
    origin: number,
    { delivered, instanceType }: UsagePlace,
    [from, until]: [number, number],
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

  function piecesOf({ cluster, node, model, place }: PricedPlace, from: number, until: number): readonly PricePiece[] {
    const facts = priceFactsOf({ cluster, node, model }, place);
    const all = stretches(ranked, facts, -Infinity, until).filter((stretch) => stretch.untilMillis > from);
    return all.map((stretch): PricePiece => {
      const fromMillis = Math.max(from, stretch.fromMillis);
      const { winner, untilMillis } = stretch;
      if (winner.kind !== "priced") return { fromMillis, untilMillis, price: undefined };
      const { entry } = winner;
      const appeared = originOf(stretch, place.appearedAt);
      const origin = entry.per === "owned" ? appeared : Math.max(appeared, place.since);
      return { fromMillis, untilMillis, price: priceOf(entry, origin, place, [fromMillis, untilMillis]) };
    });
  }

  // The slots of a machine have one price: it is asked for one after the other.
  let last: { readonly of: PricedPlace; readonly span: string; readonly pieces: readonly PricePiece[] } | undefined;
  return {
    book,
    pieces(of, from, until) {
      const span = `${from} ${until}`;
      const isSame =
        last !== undefined &&
        last.span === span &&
        last.of.place === of.place &&
        last.of.model === of.model &&
        last.of.node === of.node &&
        last.of.cluster === of.cluster;
      last = isSame ? last! : { of, span, pieces: piecesOf(of, from, until) };
      return last.pieces;
    },
  };
}

/** The kinds by which an entry's costs are asked for: one for those that are the same. */
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
