import type { Window } from "../../../domain/advice/evidence.ts";
import type { NodeGroup } from "../../../domain/advice/node-group.ts";
import type { GpuShape } from "../../../domain/advice/rule.ts";
import type { UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { Money } from "../../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { NodePrices, PricedMachine } from "../charge/node-prices.ts";

/** Returns whether a GPU of nodes would cost less in the last hour of a window if they were reserved. Without a price it would not. */
export function isCheaperReserved(prices: NodePrices, { like }: NodeGroup, window: Window): boolean {
  const own = costOf(prices, like, like.slot, window);
  const machine: UsageMachine = { ...like.machine, capacityType: "reserved" };
  const reserved = costOf(prices, { ...like, machine }, like.slot, window);
  return own !== undefined && reserved !== undefined && reserved < own;
}

/**
 * Returns the cheapest shape, in the last hour of a window, of each model, region and way of paying; of equal ones the first. A fleet has many
 * pools with the same GPUs, and only the cheapest of them can save most. A shape without a price stays if no other has one.
 */
export function cheapestShapes(
  prices: NodePrices,
  cluster: string,
  shapes: readonly GpuShape[],
  window: Window,
): readonly GpuShape[] {
  const cheapest = new Map<string, { readonly shape: GpuShape; readonly cost: Money | undefined }>();
  for (const shape of shapes) {
    const { model, region, capacityType, nodeGpus = 1, instanceType, zone, pool } = shape;
    const key = JSON.stringify([model, region, capacityType]);
    const known = Object.entries({ region, zone, instanceType, pool, capacityType }).filter(([, value]) => value);
    const machine: UsageMachine = {
      appearedAt: window.from,
      since: window.from,
      delivered: nodeGpus,
      labels: {},
      ...Object.fromEntries(known),
    };
    const cost = costOf(prices, { cluster, node: "", model, machine }, nodeGpus - 1, window);
    const best = cheapest.get(key);
    const isCheaper = cost !== undefined && (best?.cost === undefined || cost < best.cost);
    if (best === undefined || isCheaper) cheapest.set(key, { shape, cost });
  }
  return [...cheapest.values()].map(({ shape }) => shape);
}

/** Returns the effective cost of a GPU at the beginning of the last hour of a window; undefined without a price. */
function costOf(prices: NodePrices, of: PricedMachine, slot: number, { until }: Window): Money | undefined {
  return prices.pieces(of, until - HOUR_MILLIS, until)[0]?.price?.gpu(slot).effective;
}
