import type { FleetNode, Slot } from "../../fleet/node.ts";
import { busStateAt } from "../../fleet/troubles.ts";

/** Amounts of resources by name. */
export type Amounts = Readonly<Record<string, number>>;

/** Returns the resource that a pod requests to get a slot. */
function resourceOf({ node, instance }: Slot): string {
  // Resource names have no plus: `1g.10gb+me` is requested as `1g.10gb.me`.
  if (instance !== undefined) return `nvidia.com/mig-${instance.profile.replace("+", ".")}`;
  return `${node.model.vendor}.com/gpu`;
}

/** Returns the requested amounts for some slots. */
export function amountsOf(slots: readonly Slot[]): Amounts {
  const amounts: Record<string, number> = {};
  for (const slot of slots) {
    const resource = resourceOf(slot);
    amounts[resource] = (amounts[resource] ?? 0) + 1;
  }
  return amounts;
}

/** Returns the offer of a node's device plugin: constant capacity, and allocatable without lost GPUs. */
export function offeredAt(
  node: FleetNode,
  timeMillis: number,
): { readonly capacity: Amounts; readonly allocatable: Amounts } {
  const present = node.gpus.filter(({ index }) => busStateAt(node, index, timeMillis) === "present");
  const capacity = amountsOf(node.gpus.flatMap(({ slots }) => slots));
  const left = amountsOf(present.flatMap(({ slots }) => slots));
  return { capacity, allocatable: Object.fromEntries(Object.keys(capacity).map((name) => [name, left[name] ?? 0])) };
}

/** Returns amounts as quantities of Kubernetes. */
export function quantities(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, count]) => [name, String(count)]));
}

/** Returns the sum of amounts. */
export function sumOf(all: readonly Amounts[]): Amounts {
  const sum: Record<string, number> = {};
  for (const amounts of all) for (const [name, count] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
