import type { Window } from "../../../domain/advice/evidence.ts";
import type { NodeGroup } from "../../../domain/advice/node-group.ts";
import type { GpuShape } from "../../../domain/advice/rule.ts";
import type { Money } from "../../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { NodePrices, PricedMachine } from "../charge/node-prices.ts";

/** Returns whether a GPU of nodes would cost less in the last hour of a window if they were reserved. Without a price it would not. */
export function isCheaperReserved(prices: NodePrices, { like }: NodeGroup, window: Window): boolean {
  const own = costOf(prices, like, like.slot, window);
  const machine = { ...like.machine, capacityType: "reserved" as const };
  const reserved = costOf(prices, { ...like, machine }, like.slot, window);
  return own !== undefined && reserved !== undefined && reserved < own;
}

/** The shapes that could cost less than a GPU. */
export type CheaperShapes = (gpu: PricedMachine) => readonly GpuShape[];

/**
 * Creates a lookup of the shapes that cost less than a GPU in the last hour of a window: the cheapest shape of each model, region and way of
 * paying; of equal ones the first. A fleet has many pools with the same GPUs, and only the cheapest of them can save most. Shapes without a
 * price stay.
 */
export function createCheaperShapes(
  prices: NodePrices,
  cluster: string,
  shapes: readonly GpuShape[],
  window: Window,
): CheaperShapes {
  const cheapest = new Map<string, { readonly shape: GpuShape; readonly cost: Money | undefined }>();
  for (const shape of shapes) {
    const key = JSON.stringify([shape.model, shape.region, shape.capacityType]);
    const cost = costOfShape(prices, cluster, shape, window);
    const best = cheapest.get(key);
    const isCheaper = cost !== undefined && (best?.cost === undefined || cost < best.cost);
    if (best === undefined || isCheaper) cheapest.set(key, { shape, cost });
  }
  return (gpu) => {
    const own = costOf(prices, gpu, gpu.machine.delivered - 1, window);
    return [...cheapest.values()]
      .filter(({ cost }) => own === undefined || cost === undefined || cost < own)
      .map(({ shape }) => shape);
  };
}

function costOfShape(prices: NodePrices, cluster: string, shape: GpuShape, window: Window): Money | undefined {
  const { model, nodeGpus = 1, ...facts } = shape;
  const machine = { appearedAt: window.from, since: window.from, delivered: nodeGpus, labels: {}, ...facts };
  return costOf(prices, { cluster, node: "", model, machine }, nodeGpus - 1, window);
}

/**
 * Returns the effective cost of a GPU in the last hour of a window, for a machine that was there in all of it; undefined without a price.
 */
function costOf(prices: NodePrices, of: PricedMachine, slot: number, { until }: Window): Money | undefined {
  const from = until - HOUR_MILLIS;
  const { appearedAt, since } = of.machine;
  const machine = { ...of.machine, appearedAt: Math.min(appearedAt, from), since: Math.min(since, from) };
  return prices.pieces({ ...of, machine }, from, until)[0]?.price?.gpu(slot).effective;
}
