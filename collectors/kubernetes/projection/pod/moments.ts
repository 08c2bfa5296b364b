import type { ContainerObject, PodSpecObject } from "../pod-object.ts";
import { objects } from "../wire.ts";

/**
 * Returns the sets of a pod's containers that run at the same time: each init container with the sidecars that were started before it, and
 * finally all sidecars with the containers themselves. A pod reserves the largest sum of a resource over these sets
 * (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers).
 */
export function moments(spec: PodSpecObject | null | undefined): readonly (readonly ContainerObject[])[] {
  const sidecars: ContainerObject[] = [];
  const sets: ContainerObject[][] = [];
  for (const container of objects(spec?.initContainers)) {
    if (container.restartPolicy === "Always") sidecars.push(container);
    else sets.push([...sidecars, container]);
  }
  sets.push([...sidecars, ...objects(spec?.containers)]);
  return sets;
}

/** Returns what a pod reserves of each resource by name: the largest sum over its sets. */
export function reserved(
  sets: readonly (readonly ContainerObject[])[],
  amountsOf: (container: ContainerObject) => ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const set of sets) {
    const sums = new Map<string, number>();
    for (const container of set) {
      for (const [resource, amount] of amountsOf(container)) sums.set(resource, (sums.get(resource) ?? 0) + amount);
    }
    for (const [resource, sum] of sums) if (sum > (most.get(resource) ?? 0)) most.set(resource, sum);
  }
  return most;
}
