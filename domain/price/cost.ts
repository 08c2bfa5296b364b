import { steadyAccrual, type Accrual } from "../exact/accrual.ts";
import { multiply, ONE, type Rational } from "../exact/rational.ts";
import { split } from "../exact/split.ts";
import type { Money } from "../exact/units.ts";
import type { CostKind, PriceEntry, StandingEntry } from "./book.ts";
import { converted, type Rates } from "./conversion.ts";
import { monthlyAccrual } from "./month.ts";
import { ownedAccrual } from "./owned.ts";

/**
 * Returns the exact C(t) of a price entry from an origin on ({@link originOf}), in the book's currency. For a price per gpu-hour, it is the
 * cost of the GPU or of `part` of one. For a price per node-hour and for an owned machine, whose three costs are equal, it is the cost of
 * the node. Power is not included (`powerCost`).
 */
export function costSince(
  entry: PriceEntry,
  kind: CostKind,
  { originMillis, part }: { readonly originMillis: number; readonly part: Rational },
  book: Rates,
): Accrual<"currency"> {
  const accrual =
    entry.per === "owned"
      ? ownedAccrual(entry.owned, originMillis)
      : steadyAccrual<"currency">(rateOf(entry, kind, part), originMillis);
  return converted(accrual, entry.currency, book);
}

function rateOf(entry: Exclude<PriceEntry, { per: "owned" }>, kind: CostKind, part: Rational): Rational {
  const rate = entry.prices[kind];
  return entry.per === "gpu-hour" && part !== ONE ? multiply(rate, part) : rate;
}

/** Returns the exact C(t) of a commitment or a fixed cost from the start of its term on, in the book's currency. */
export function standingCost(entry: StandingEntry, book: Rates): Accrual<"currency"> {
  const { per, amount, fromMillis, currency } = entry;
  const accrual = per === "month" ? monthlyAccrual(amount, fromMillis) : steadyAccrual<"currency">(amount, fromMillis);
  return converted(accrual, currency, book);
}

/** The divided cost of a node. */
export interface NodeCost {
  /** By GPU index, for each GPU that the machine was delivered with, whether it is still there or not. */
  readonly gpus: readonly Money[];
  /** The platform's line `non-gpu`: the part that the GPUs do not bear. */
  readonly nonGpu: Money;
}

/**
 * Divides a node's cost over its delivered GPUs, by largest remainder in the order of their indexes, and then the rest of the node. Throws
 * a RangeError if no GPU was delivered.
 */
export function divideNodeCost(cost: Money, delivered: number, gpuPart: Rational): NodeCost {
  if (!Number.isSafeInteger(delivered) || delivered < 1) throw new RangeError(`${delivered} GPUs cannot bear a cost`);
  const rest = BigInt(delivered) * (gpuPart.den - gpuPart.num);
  const weights = [...Array.from({ length: delivered }, () => gpuPart.num), rest];
  const parts = split(cost, weights) ?? [];
  const nonGpu = parts.at(-1);
  if (nonGpu === undefined) throw new RangeError("a part of 0 cannot bear a cost");
  return { gpus: parts.slice(0, -1), nonGpu };
}
