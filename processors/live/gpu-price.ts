import { divide, multiply, rational, type Rational } from "../../domain/exact/rational.ts";
import { exactly } from "../../domain/exact/units.ts";
import { DELIVERED_LABEL, type InventoryFact } from "../../domain/inventory.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { createNodePrices } from "../ledger/charge/node-prices.ts";

const HOUR_MILLIS = 3_600_000;

/**
 * What an hour of one GPU of a model on a node costs now, effectively, in the book's currency; undefined where no entry prices
 * it. Power is not in it: it depends on what the GPU does.
 */
export function createGpuPrices(
  book: PriceBook,
): (node: InventoryFact, model: string | undefined, atMillis: number) => Rational | undefined {
  const prices = createNodePrices(book);
  return (node, model, atMillis) => {
    const total = node.gpus.reduce((sum, { count }) => sum + count, 0);
    const delivered = Math.max(total, Number(node.labels[DELIVERED_LABEL]) || 0);
    if (delivered === 0) return undefined;
    const place = { ...node, machine: node.uid, appearedAt: node.joined, since: node.joined, delivered };
    const hour = Math.floor(atMillis / HOUR_MILLIS) * HOUR_MILLIS;
    const pieces = prices.pieces({ cluster: node.cluster, node: node.node, model, place }, hour, hour + HOUR_MILLIS);
    const piece = pieces.find(({ fromMillis, untilMillis }) => fromMillis <= atMillis && atMillis < untilMillis);
    if (piece?.price === undefined) return undefined;
    const part = rational(piece.untilMillis - piece.fromMillis, HOUR_MILLIS);
    return divide(exactly(piece.price.gpu(0).effective), part);
  };
}

/** A price for an hour as a number, for panels and messages: nothing is charged by it. */
export function asNumber(perHour: Rational, devices: Rational): number {
  const { num, den } = multiply(perHour, devices);
  return Number((num * 1_000_000n) / den) / 1e6;
}
