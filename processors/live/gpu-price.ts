import { divide, multiply, rational, type Rational } from "../../domain/exact/rational.ts";
import { exactly } from "../../domain/exact/units.ts";
import { deliveredOf, type InventoryFact } from "../../domain/inventory.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { createNodePrices } from "../ledger/charge/node-prices.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";

/** The fields of a machine that a price needs. Without Kubernetes it has no UID. */
export type PricedNode = Pick<InventoryFact, "cluster" | "node" | "joined" | "labels"> &
  Partial<Omit<InventoryFact, "gpus">> & { readonly gpus: readonly { readonly count: number }[] };

/** The price of a GPU for one hour, with the time until which it stays the same. */
export interface GpuPrice {
  /** Undefined if no entry prices it. */
  readonly perHour: Rational | undefined;
  /** Milliseconds since the epoch. */
  readonly untilMillis: number;
}

/**
 * Creates a function that returns the current effective price per hour of one GPU of a model on a node, in the book's currency. Power is
 * not included, because it depends on the GPU's activity. If the price of a node cannot be computed, the node has no price for the hour and
 * `onFailure` gets the error. The prices of other nodes are not affected.
 */
export function createGpuPrices(
  book: PriceBook,
  onFailure: (node: PricedNode, error: unknown) => void,
): (node: PricedNode, model: string | undefined, atMillis: number) => GpuPrice {
  const prices = createNodePrices(book);

  function priceOf(node: PricedNode, model: string | undefined, atMillis: number, hour: number): GpuPrice {
    const { uid, joined } = node;
    const total = node.gpus.reduce((sum, { count }) => sum + count, 0);
    const delivered = Math.max(total, deliveredOf(node) ?? 0);
    if (delivered === 0) return { perHour: undefined, untilMillis: hour + HOUR_MILLIS };
    const ofNode = uid === undefined ? {} : { machine: uid };
    // A node that joined in this hour has a price from then on. The node's clock can be ahead of this machine's.
    const since = Math.min(joined, atMillis);
    const machine = { ...node, ...ofNode, appearedAt: since, since, delivered };
    const asked = { cluster: node.cluster, node: node.node, model, machine };
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

/** Returns an hourly price as a number, for panels and messages. No charge is computed from it. */
export function asNumber(perHour: Rational, devices: Rational): number {
  const { num, den } = multiply(perHour, devices);
  return Number((num * 1_000_000n) / den) / 1e6;
}
