import type { SliceDevice } from "../cluster-fact.ts";
import type { CountedBy, GpuCount, NodeGpus } from "../inventory.ts";
import { migProductOf } from "./mig-product.ts";
import { migShapeOf } from "./mig-shape.ts";

const STRONGEST_FIRST: readonly CountedBy[] = ["slices", "label", "register", "instance-type", "instances", "capacity"];

/** The source of a node's GPU count, in words. */
export const COUNTED_BY: Readonly<Record<CountedBy, string>> = {
  slices: "its ResourceSlices",
  label: "its labels",
  register: "the register of its vGPU scheduler",
  "instance-type": "its instance type",
  instances: "its MIG instances",
  capacity: "its capacity",
  samples: "its exporter",
};

/** Returns whether the count is a guess: no source counted physical GPUs, so the count is derived from what the node offers. */
export function isGuess(by: CountedBy | undefined): boolean {
  return by === "instances" || by === "capacity";
}

/** Returns the count with the strongest evidence, and a count that contradicts it: the strongest other count that is not a guess. */
export function decideCount(
  counts: readonly GpuCount[],
): { readonly taken: GpuCount; readonly other: GpuCount | undefined } | undefined {
  const [taken, ...others] = strongestFirst(counts);
  if (taken === undefined) return undefined;
  return { taken, other: others.find(({ by, count }) => count !== taken.count && !isGuess(by)) };
}

/**
 * Returns the highest count over time among those with the strongest evidence. Weaker evidence of other times is ignored. Undefined without
 * a count above 0.
 */
export function strongestCount(counts: readonly GpuCount[]): GpuCount | undefined {
  const [first, ...others] = strongestFirst(counts);
  if (first === undefined) return undefined;
  const alike = others.filter(({ by }) => by === first.by).map(({ count }) => count);
  return { by: first.by, count: Math.max(first.count, ...alike) };
}

function strongestFirst(counts: readonly GpuCount[]): readonly GpuCount[] {
  const strength = ({ by }: GpuCount): number => STRONGEST_FIRST.indexOf(by);
  return counts.filter(({ count }) => count > 0).toSorted((a, b) => strength(a) - strength(b));
}

/**
 * Combines the GPUs in a node's objects with its exporter's. `shown` is the largest number of distinct GPUs that the exporter ever showed.
 * It is a lower bound: an exporter can lose a GPU, and it leaves out GPUs that DRA has not allocated. It therefore replaces a smaller
 * count. If the count is a guess, `shown` is the count, unless the offered units are not a multiple of it: then a GPU is missing from the
 * samples. Units that are offered beyond the physical GPUs are replicas, or partitions of AMD's GPUs.
 */
export function withShown(gpus: readonly NodeGpus[], shown: number): readonly NodeGpus[] {
  const total = countOf(gpus);
  const [kind] = gpus;
  if (kind === undefined || shown === 0) return gpus;
  if (gpus.length > 1) {
    const last = gpus.at(-1)!;
    const bySamples = countedBySamples(last);
    return shown <= total ? gpus : gpus.with(-1, { ...bySamples, count: last.count + shown - total });
  }
  if (kind.countedBy === "instances") return [withInstancesOn(countedBySamples(kind), shown)];
  const isMultiple = kind.offered !== undefined && kind.offered % shown === 0;
  const isCount = shown > total || (kind.countedBy === "capacity" && isMultiple);
  return isCount ? [offeredOn(countedBySamples(kind), shown)] : gpus;
}

/** Returns a kind whose count comes from samples. A previous count that was not a guess becomes the contradicting count. */
function countedBySamples(counted: NodeGpus): NodeGpus {
  const { otherCount: _, ...kind } = counted;
  const { count, countedBy: by = "label" } = kind;
  return { ...kind, countedBy: "samples", ...(isGuess(by) ? {} : { otherCount: { by, count } }) };
}

/** Returns the number of physical GPUs of a node. */
export function countOf(gpus: readonly NodeGpus[]): number {
  return gpus.reduce((sum, { count }) => sum + count, 0);
}

/** Returns a kind with a number of physical GPUs. Units that the node offers beyond them are replicas or partitions. */
export function offeredOn(kind: NodeGpus, count: number): NodeGpus {
  const each = (kind.offered ?? 0) / count;
  if (each === 1 && kind.replicas > 1) return { ...kind, count, replicas: 1, sharing: "none" };
  if (!Number.isInteger(each) || each < 2) return { ...kind, count };
  if (kind.vendor === "amd") return { ...kind, count, partitions: each };
  return { ...kind, count, replicas: each, sharing: kind.sharing === "none" ? "time-slicing" : kind.sharing };
}

/** Returns the number of GPUs that MIG instances need, by their compute and memory slices. A fraction if the last GPU is not full. */
export function gpusForInstances(
  profiles: Readonly<Record<string, number>>,
  { model, memoryMiB }: Pick<NodeGpus, "model" | "memoryMiB">,
): number {
  const found = migProductOf(model, memoryMiB);
  const { computeSlices, memorySlices } = found.product;
  let [compute, memory] = [0, 0];
  for (const [profile, instances] of Object.entries(profiles)) {
    const shape = migShapeOf(profile, found);
    compute += instances * shape.computeSlices;
    memory += instances * shape.memorySlices;
  }
  return Math.max(compute / computeSlices, memory / memorySlices);
}

/** Returns a kind in MIG mode with a number of GPUs. Instances beyond these GPUs count as replicas (time-slicing). */
export function withInstancesOn(kind: NodeGpus, count: number): NodeGpus {
  const { mig, sharing } = kind;
  const replicas = Math.max(kind.replicas, Math.ceil(gpusForInstances(mig.profiles, kind) / count));
  if (replicas === kind.replicas) return { ...kind, count };
  const profiles = Object.fromEntries(
    Object.entries(mig.profiles).map(([profile, instances]) => [profile, Math.ceil(instances / replicas)]),
  );
  const isShared = sharing !== "none";
  return { ...kind, count, replicas, sharing: isShared ? sharing : "time-slicing", mig: { ...mig, profiles } };
}

/** Groups the devices of slices by physical GPU. MIG instances, and the same GPU for a virtual machine, belong to one GPU. */
export function physicalDevices(slices: readonly SliceDevice[]): readonly (readonly SliceDevice[])[] {
  const gpus = new Map<string, SliceDevice[]>();
  const idOf = ({ parentUuid, uuid }: SliceDevice): string | undefined => parentUuid ?? uuid;
  const addresses = new Map(slices.map((device) => [idOf(device), device.pciBusId] as const).filter(([, at]) => at));
  for (const device of slices) {
    const id = idOf(device);
    const key = (device.pciBusId ?? addresses.get(id))?.toLowerCase() ?? id ?? device.name;
    gpus.set(key, [...(gpus.get(key) ?? []), device]);
  }
  return [...gpus.values()];
}
