import type { FleetNode, Slot } from "../../fleet/node.ts";
import { busStateAt } from "../../fleet/troubles.ts";

/** Amounts of resources by name. */
export type Amounts = Readonly<Record<string, number>>;

/** The resource that a pod asks for to get a slot. */
export function resourceOf({ node, instance }: Slot): string {
  // Resource names have no plus: `1g.10gb+me` is asked for as `1g.10gb.me`.
  if (instance !== undefined) return `nvidia.com/mig-${instance.profile.replace("+", ".")}`;
  return `${node.model.vendor}.com/gpu`;
}

/** What a number of slots is asked for as. */
export function amountsOf(slots: readonly Slot[]): Amounts {
  const amounts: Record<string, number> = {};
  for (const slot of slots) {
    const resource = resourceOf(slot);
    amounts[resource] = (amounts[resource] ?? 0) + 1;
  }
  return amounts;
}

/** What the device plugin of a node offers: capacity whatever happens, allocatable without GPUs that are lost. */
export function offeredAt(
  node: FleetNode,
  timeMillis: number,
): { readonly capacity: Amounts; readonly allocatable: Amounts } {
  const present = node.gpus.filter(({ index }) => busStateAt(node, index, timeMillis) === "present");
  const capacity = amountsOf(node.gpus.flatMap(({ slots }) => slots));
  const left = amountsOf(present.flatMap(({ slots }) => slots));
  return { capacity, allocatable: Object.fromEntries(Object.keys(capacity).map((name) => [name, left[name] ?? 0])) };
}

/** Amounts as Kubernetes writes quantities. */
export function quantities(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, count]) => [name, String(count)]));
}

/** The sum of amounts. */
export function sumOf(all: readonly Amounts[]): Amounts {
  const sum: Record<string, number> = {};
  for (const amounts of all) for (const [name, count] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
