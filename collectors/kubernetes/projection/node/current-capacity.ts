import type { NodeGpus } from "../../../../domain/inventory.ts";
import { gpusForInstances } from "../../../../domain/share/node-gpus.ts";
import { gpuResource, type ResourceNames } from "../gpu-resource.ts";

type Amounts = Readonly<Record<string, number>>;

/** The names of a capacity by which NVIDIA's GPUs are offered, whole or in instances of a profile. */
function layoutsIn(capacity: Amounts, names: ResourceNames | undefined): readonly string[] {
  return Object.keys(capacity).filter((name) => {
    const resource = gpuResource(name, names);
    return resource?.kind === "mig" || (resource?.kind === "gpu" && resource.vendor === "nvidia");
  });
}

/**
 * Returns a node's capacity without the resources that NVIDIA's device plugin has left behind at a change of the layout: nothing of them is
 * allocatable, and something of another layout is (https://github.com/NVIDIA/k8s-device-plugin/issues/240).
 */
export function withoutFormerLayouts(
  capacity: Amounts,
  allocatable: Amounts,
  names: ResourceNames | undefined,
): Amounts {
  const layouts = layoutsIn(capacity, names);
  const isOffered = (name: string): boolean => (allocatable[name] ?? 0) > 0;
  if (layouts.length < 2 || !layouts.some(isOffered)) return capacity;
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, layouts.includes(name) && !isOffered(name) ? 0 : amount]),
  );
}

const ON_DEMAND = "mig.das.com/";

/**
 * Returns a capacity without the alternatives of the Dynamic Accelerator Slicer: each of its profiles has as many instances as fit if there
 * are no others. The smallest profile stays.
 */
export function withoutAlternatives(capacity: Amounts): Amounts {
  const profiles = Object.entries(capacity).filter(([name]) => name.startsWith(ON_DEMAND));
  const [most] = profiles.toSorted(([, a], [, b]) => b - a);
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [
      name,
      name.startsWith(ON_DEMAND) && name !== most?.[0] ? 0 : amount,
    ]),
  );
}

/**
 * Returns a capacity whose whole GPUs are the allocatable ones, if these and the instances are all GPUs of the node: the others are cut, and
 * not withdrawn.
 */
export function withoutCutGpus(
  capacity: Amounts,
  allocatable: Amounts,
  { count, replicas, mig, model, memoryMiB }: NodeGpus,
): Amounts {
  const name = "nvidia.com/gpu";
  const [all, offered] = [capacity[name] ?? 0, allocatable[name] ?? 0];
  const inInstances = Math.ceil(
    gpusForInstances(mig.profiles, {
      ...(model === undefined ? {} : { model }),
      ...(memoryMiB === undefined ? {} : { memoryMiB }),
    }),
  );
  const isCovered = inInstances > 0 && Math.ceil(offered / Math.max(1, replicas)) + inInstances >= count;
  return all > offered && isCovered ? { ...capacity, [name]: offered } : capacity;
}
