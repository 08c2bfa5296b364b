import { givenInstance, isInstanceOf } from "../../../domain/attribution/kind.ts";
import type { Device } from "../../../domain/device.ts";
import { add, compare, ONE, rational, subtract, ZERO } from "../../../domain/exact/rational.ts";
import type { ClaimedDevice, Holding } from "../../../domain/holding.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import type { PartOfDevice } from "../../../domain/share/claim.ts";
import { migProductOf } from "../../../domain/share/mig-product.ts";
import type { MigProfile } from "../../../domain/share/mig-table.ts";
import type { VgpuAmounts } from "../../../domain/share/vgpu.ts";
import type { GpuAsk } from "../../../domain/workload.ts";

/** Returns the part that a pod of KAI or Run:ai has of each of its devices. */
export function fractionOf({ ppm, memoryMiB }: Extract<GpuAsk, { kind: "fraction" }>): PartOfDevice {
  return {
    what: "fraction",
    ...(ppm === undefined ? {} : { ppm }),
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
  };
}

/** Returns a pod with its amounts of memory in MiB, if the scheduler of its node counts larger units. */
export function inMiB(pod: Holding, gpus: readonly NodeGpus[]): Holding {
  const kind = gpus.find(({ memoryUnits }) => memoryUnits !== undefined);
  if (kind?.memoryUnits === undefined || kind.memoryMiB === undefined) return pod;
  const factor = kind.memoryMiB / kind.memoryUnits;
  const mib = (units: number): number => Math.round(units * factor);
  return {
    ...pod,
    asks: pod.asks.map((ask) =>
      ask.kind === "vgpu" && ask.memoryMiB !== undefined ? { ...ask, memoryMiB: mib(ask.memoryMiB) } : ask,
    ),
    evidence: pod.evidence.map((entry) =>
      entry.by === "annotation" ? { ...entry, memoryMiB: mib(entry.memoryMiB) } : entry,
    ),
  };
}

/**
 * Returns the part of a GPU that a pod has by an instance that HAMi names by its memory, in slices of the GPU: compute or memory, whichever is
 * more. Undefined if the pod has no such instance, or if its GPU has no profile with this memory.
 */
export function instancePart(pod: Holding, gpus: readonly NodeGpus[]): PartOfDevice | undefined {
  const given = givenInstance(pod);
  if (given === undefined) return undefined;
  const { product } = migProductOf(gpus[0]?.model, gpus[0]?.memoryMiB);
  const fitting = product.profiles.filter(({ name }) => isInstanceOf({ uuid: given.uuid, profile: name }, given));
  // Of profiles with the same memory, HAMi's geometries have the one whose part of the compute is nearest to that of the memory.
  const distance = ({ computeSlices, memorySlices }: MigProfile): number =>
    Math.abs(computeSlices * product.memorySlices - memorySlices * product.computeSlices);
  const [profile] = fitting.toSorted((a, b) => distance(a) - distance(b) || a.computeSlices - b.computeSlices);
  if (profile === undefined) return undefined;
  const ofCompute = rational(profile.computeSlices, product.computeSlices);
  const ofMemory = rational(profile.memorySlices, product.memorySlices);
  const { num, den } = compare(ofCompute, ofMemory) < 0 ? ofMemory : ofCompute;
  return { what: "consumed", amount: Number(num), of: Number(den) };
}

/** Returns the amounts without zeros. 0 counts as unset, as in both schedulers. */
export function amountsOf({ memoryMiB = 0, memoryPercent = 0, coresPercent = 0 }: VgpuAmounts): VgpuAmounts {
  return {
    ...(memoryMiB === 0 ? {} : { memoryMiB }),
    ...(memoryPercent === 0 ? {} : { memoryPercent }),
    ...(coresPercent === 0 ? {} : { coresPercent }),
  };
}

/** Returns the part of a GPU that a scheduler's annotations give a pod, summed over its containers. Undefined if none names the GPU. */
export function annotated(pod: Holding, { uuid }: Pick<Device, "uuid">): VgpuAmounts | undefined {
  const entries = pod.evidence.flatMap((entry) => (entry.by === "annotation" && entry.uuid === uuid ? [entry] : []));
  if (entries.length === 0) return undefined;
  const memoryMiB = entries.reduce((sum, entry) => sum + entry.memoryMiB, 0);
  const written = entries.reduce((sum, entry) => sum + entry.coresPercent, 0);
  const coresPercent = written === 0 ? askedPercent("coresPercent", pod, entries.length) : written;
  return memoryMiB === 0
    ? { memoryPercent: askedPercent("memoryPercent", pod, entries.length), coresPercent }
    : { memoryMiB, coresPercent };
}

/**
 * Returns the percentage of the memory or of the cores that containers of a pod request together; 0 if it is unset. Volcano writes 0 MiB for a
 * request in percent (https://github.com/volcano-sh/volcano/issues/3465). HAMi writes compute units instead of the percentage of AMD's cores.
 */
function askedPercent(measure: "memoryPercent" | "coresPercent", { asks }: Holding, containers: number): number {
  const asked = asks.filter((ask) => ask.kind === "vgpu");
  const count = asked.reduce((sum, ask) => sum + ask.count, 0);
  const percent = asked.reduce((sum, ask) => sum + ask.count * (ask[measure] ?? 0), 0);
  return count === 0 ? 0 : Math.round((percent * containers) / count);
}

/**
 * Returns the part of a device that a pod has by a claim, shared with the other pods that the claim is reserved for and with the claims
 * that have other parts of the device. Claims that consume nothing share the rest equally.
 */
export function claimedPart(
  claim: ClaimedDevice,
  { sharers, others }: { readonly sharers: number; readonly others: readonly ClaimedDevice[] },
): Extract<PartOfDevice, { what: "whole" | "consumed" }> {
  const reservedFor = sharers > 1 ? { reservedFor: sharers } : {};
  if (claim.consumed !== undefined) return { what: "consumed", ...claim.consumed, ...reservedFor };
  if (claim.partitions !== undefined) return { what: "consumed", amount: 1, of: claim.partitions, ...reservedFor };
  const consumed = others.flatMap((other) => other.consumed ?? []);
  if (consumed.length === 0) return { what: "whole", ...reservedFor };
  const taken = consumed.map(({ amount, of }) => rational(amount, of)).reduce(add);
  const left = compare(taken, ONE) < 0 ? subtract(ONE, taken) : ZERO;
  const alike = 1 + others.length - consumed.length;
  return { what: "consumed", amount: Number(left.num), of: Number(left.den) * alike, ...reservedFor };
}

/** Returns a claim's name, unique in a cluster. */
export function nameOf({ namespace, claim }: ClaimedDevice): string {
  return `${namespace}/${claim}`;
}
