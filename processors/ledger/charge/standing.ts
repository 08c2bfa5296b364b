import { chargeBeside, effectively, type Charge } from "../../../domain/charge/charge.ts";
import { sum, type Money } from "../../../domain/exact/units.ts";
import type { PriceBook, StandingEntry } from "../../../domain/price/book.ts";
import { priceFactsOf } from "../../../domain/price/facts.ts";
import { fits } from "../../../domain/price/match.ts";
import { heldOf, unusedOf, type TakenUp } from "../../../domain/price/unused.ts";
import type { NodePrices, PricedMachine } from "./node-prices.ts";

/** A slot of an unchanged machine over a part of an hour without a break. */
export interface SlotSpan extends PricedMachine {
  readonly slot: number;
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
}

interface Span {
  readonly from: number;
  readonly until: number;
}

/**
 * Returns the lines `unused commitment` of an hour of the whole fleet: the parts of commitments and fixed costs that no slot used. The
 * platform pays them. In an hour in which an export prices a slot of the scope, the export has the unused part, too.
 */
export function standingCharges(
  { commitments, fixed, ...book }: PriceBook,
  prices: NodePrices,
  slots: readonly SlotSpan[],
  hour: Span,
): readonly Charge[] {
  const kinds = [
    ...commitments.map((entry) => ({ entry, kind: "commitment" as const })),
    ...fixed.map((entry) => ({ entry, kind: "fixed" as const })),
  ];
  return kinds.flatMap(({ entry, kind }) => {
    const held = heldOf(entry, hour);
    if (held === undefined) return [];
    const taken = takenUp(entry, prices, slots, held);
    if (taken === "by an export") return [];
    const unused = unusedOf(entry, kind, held, taken, book);
    return unused === 0n ? [] : [chargeOf(entry, kind, held, unused)];
  });
}

/** Returns what takes up an entry; `by an export` if an export has the costs of its scope, the unused parts included. */
function takenUp(
  { scope }: StandingEntry,
  prices: NodePrices,
  slots: readonly SlotSpan[],
  held: Span,
): TakenUp | "by an export" {
  let gpuMillis = 0;
  const costs: Money[] = [];
  for (const slot of slots) {
    const [from, until] = [Math.max(slot.from, held.from), Math.min(slot.until, held.until)];
    if (from >= until || !fits(scope, priceFactsOf(slot, slot.machine))) continue;
    gpuMillis += until - from;
    for (const { price } of prices.pieces(slot, from, until)) {
      if (price === undefined) continue;
      if (price.status !== undefined && price.status !== "estimated") return "by an export";
      costs.push(price.gpu(slot.slot).effective);
      if (slot.slot === 0 && price.nonGpu !== undefined) costs.push(price.nonGpu.effective);
    }
  }
  return { gpuMillis, cost: sum(costs) };
}

function chargeOf(
  { name, scope }: StandingEntry,
  kind: "commitment" | "fixed",
  { from, until }: Span,
  unused: Money,
): Charge {
  const { cluster = "", model = "", instanceType = "", region = "", zone = "", pool = "", capacityType = "" } = scope;
  return chargeBeside(
    {
      fromMillis: from,
      untilMillis: until,
      cluster,
      gpuModel: model,
      instanceType,
      region,
      zone,
      pool,
      capacityType,
      state: "unused commitment",
      // A commitment is the reason for lower prices, so its unused part has an effective cost only. Its list and contracted costs are 0.
      costs: kind === "fixed" ? { list: unused, contracted: unused, effective: unused } : effectively(unused),
    },
    { price: name },
  );
}
