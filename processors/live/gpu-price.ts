import { divide, multiply, rational, type Rational } from "../../domain/exact/rational.ts";
import { exactly } from "../../domain/exact/units.ts";
import { DELIVERED_LABEL, type InventoryFact } from "../../domain/inventory.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { createNodePrices } from "../ledger/charge/node-prices.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";

/** A machine as far as a price asks for it; without Kubernetes it has no UID. */
export type PricedNode = Pick<InventoryFact, "cluster" | "node" | "joined" | "labels"> &
  Partial<Omit<InventoryFact, "gpus">> & { readonly gpus: readonly { readonly count: number }[] };

/** What an hour of a GPU costs, and until when it is no use to ask again. */
export interface GpuPrice {
  /** Undefined where no entry prices it. */
  readonly perHour: Rational | undefined;
  /** Milliseconds since the epoch. */
  readonly untilMillis: number;
}

/**
 * What an hour of one GPU of a model on a node costs now, effectively, in the book's currency. Power is not in it: it depends on
 * what the GPU does. A node whose price cannot be computed has none for the hour, and `onFailure` hears of it: the prices of the
 * others stand.
 */
export function createGpuPrices(
  book: PriceBook,
  onFailure: (node: PricedNode, error: unknown) => void,
): (node: PricedNode, model: string | undefined, atMillis: number) => GpuPrice {
  const prices = createNodePrices(book);

  function priceOf(node: PricedNode, model: string | undefined, atMillis: number, hour: number): GpuPrice {
    const { uid, joined } = node;
    const total = node.gpus.reduce((sum, { count }) => sum + count, 0);
    const delivered = Math.max(total, Number(node.labels[DELIVERED_LABEL]) || 0);
    if (delivered === 0) return { perHour: undefined, untilMillis: hour + HOUR_MILLIS };
    const machine = uid === undefined ? {} : { machine: uid };
    // A node that joined in this hour has a price from then on. Its clock can be ahead of this one.
    const since = Math.min(joined, atMillis);
    const place = { ...node, ...machine, appearedAt: since, since, delivered };
    const asked = { cluster: node.cluster, node: node.node, model, place };
    const pieces = prices.pieces(asked, Math.max(hour, since), hour + HOUR_MILLIS);
    const piece = pieces.find(({ fromMillis, untilMillis }) => fromMillis <= atMillis && atMillis < untilMillis);
    if (piece?.price === undefined)
      return { perHour: undefined, untilMillis: piece?.untilMillis ?? hour + HOUR_MILLIS };
    const part = rational(piece.untilMillis - piece.fromMillis, HOUR_MILLIS);
    return { perHour: divide(exactly(piece.price.gpu(0).effective), part), untilMillis: piece.untilMillis };
  }

  return (node, model, atMillis) => {
    const hour = hourOf(atMillis);
    try {
      return priceOf(node, model, atMillis, hour);
    } catch (error) {
      onFailure(node, error);
      return { perHour: undefined, untilMillis: hour + HOUR_MILLIS };
    }
  };
}

/** A price for an hour as a number, for panels and messages: nothing is charged by it. */
export function asNumber(perHour: Rational, devices: Rational): number {
  const { num, den } = multiply(perHour, devices);
  return Number((num * 1_000_000n) / den) / 1e6;
}
