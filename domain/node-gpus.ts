import type { SliceDevice } from "./cluster-fact.ts";
import type { CountedBy, GpuCount, NodeGpus } from "./inventory.ts";
import { migProductOf } from "./share/mig-product.ts";
import { migShapeOf } from "./share/mig-shape.ts";

const STRONGEST_FIRST: readonly CountedBy[] = ["slices", "label", "register", "instance-type", "instances", "capacity"];

/** What has counted the GPUs of a node, in words. */
export const COUNTED_BY: Readonly<Record<CountedBy, string>> = {
  slices: "its ResourceSlices",
  label: "its labels",
  register: "the register of its vGPU scheduler",
  "instance-type": "its instance type",
  instances: "its MIG instances",
  capacity: "its capacity",
  samples: "its exporter",
};

/** Whether nothing has counted physical GPUs: the count is what has to be there for what the node offers. */
export function isGuess(by: CountedBy | undefined): boolean {
  return by === "instances" || by === "capacity";
}

/** The count of the strongest evidence, and one that contradicts it: the strongest other one that is no guess. */
export function decideCount(
  counts: readonly GpuCount[],
): { readonly taken: GpuCount; readonly other: GpuCount | undefined } | undefined {
  const [taken, ...others] = strongestFirst(counts);
  if (taken === undefined) return undefined;
  return { taken, other: others.find(({ by, count }) => count !== taken.count && !isGuess(by)) };
}

/** The highest of the counts over time that have the strongest evidence: weaker evidence of before or after does not matter. */
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
 * The GPUs of a node as its objects have them, with what its exporter shows: `shown` distinct GPUs, the most that were ever seen.
 * That is a lower bound, as an exporter can lose a GPU and leaves those out that DRA has not given: it beats a smaller count. Where
 * the count is a guess, what is shown is the count, unless the offered units are no multiple of it: then a GPU is silent. What is
 * offered beyond the physical GPUs are replicas, or partitions of AMD's GPUs.
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

/** A kind whose count the samples replace: one that was no guess contradicts them. */
function countedBySamples(counted: NodeGpus): NodeGpus {
  const { otherCount: _, ...kind } = counted;
  const { count, countedBy: by = "label" } = kind;
  return { ...kind, countedBy: "samples", ...(isGuess(by) ? {} : { otherCount: { by, count } }) };
}

/** All physical GPUs of a node. */
export function countOf(gpus: readonly NodeGpus[]): number {
  return gpus.reduce((sum, { count }) => sum + count, 0);
}

/** A kind with a number of physical GPUs: what the node offers beyond them are replicas or partitions. */
export function offeredOn(kind: NodeGpus, count: number): NodeGpus {
  const each = (kind.offered ?? 0) / count;
  if (each === 1 && kind.replicas > 1) return { ...kind, count, replicas: 1, sharing: "none" };
  if (!Number.isInteger(each) || each < 2) return { ...kind, count };
  if (kind.vendor === "amd") return { ...kind, count, partitions: each };
  return { ...kind, count, replicas: each, sharing: kind.sharing === "none" ? "time-slicing" : kind.sharing };
}

/** The GPUs that have to be there for MIG instances, by their compute and memory slices: a fraction where the last is not full. */
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

/** A kind in MIG mode with a number of GPUs: instances that do not fit on them are replicas of those that do. */
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

/** The physical GPUs behind the devices of slices: instances of MIG, and the same GPU for a virtual machine, are of one. */
export function physicalDevices(slices: readonly SliceDevice[]): readonly (readonly SliceDevice[])[] {
  const gpus = new Map<string, SliceDevice[]>();
  for (const device of slices) {
    const key = device.pciBusId?.toLowerCase() ?? device.parentUuid ?? device.uuid ?? device.name;
    gpus.set(key, [...(gpus.get(key) ?? []), device]);
  }
  return [...gpus.values()];
}
