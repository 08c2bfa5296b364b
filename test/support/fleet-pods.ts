import type { Fleet } from "../../demo/fleet/fleet.ts";
import type { Slot } from "../../demo/fleet/node.ts";
import type { FleetPod } from "../../demo/fleet/pod.ts";
import { tenancyAt } from "../../demo/fleet/tenancy.ts";

/** A pod and everything that it holds, on one node. */
export interface RunningPod {
  readonly pod: FleetPod;
  readonly slots: readonly Slot[];
}

/** Returns every pod that holds a GPU at a time, in the order of the nodes. */
export function podsAt({ nodes }: Fleet, timeMillis: number): readonly RunningPod[] {
  const running = new Map<string, { readonly pod: FleetPod; readonly slots: Slot[] }>();
  for (const slot of nodes.flatMap(({ gpus }) => gpus.flatMap(({ slots }) => slots))) {
    const { pod } = tenancyAt(slot, timeMillis);
    if (pod === undefined) continue;
    const known = running.get(pod.uid);
    if (known === undefined) running.set(pod.uid, { pod, slots: [slot] });
    else known.slots.push(slot);
  }
  return [...running.values()];
}
