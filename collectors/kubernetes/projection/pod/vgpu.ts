import type { DeviceEvidence, GpuAsk } from "../../../../domain/workload.ts";
import { gpuResource, type ResourceNames } from "../gpu-resource.ts";
import type { ContainerObject, PodObject } from "../pod-object.ts";
import type { Remarks } from "../remark.ts";
import { given, objects } from "../wire.ts";
import type { Amounts } from "./amounts.ts";

type VgpuAsk = Extract<GpuAsk, { kind: "vgpu" }>;
type Scheduler = VgpuAsk["scheduler"];
type Annotated = Extract<DeviceEvidence, { by: "annotation" }>;

/** The annotation in which each scheduler writes its allocation. */
const ALLOCATED: Readonly<Record<Scheduler, string>> = {
  hami: "hami.io/vgpu-devices-allocated",
  "hami-amd": "hami.io/amd-devices-allocated",
  volcano: "volcano.sh/vgpu-ids-new",
};
/** HAMi uses the resource names of the vendors' device plugins, unless it is configured otherwise. */
const WHOLE: Readonly<Partial<Record<Scheduler, string>>> = { hami: "nvidia.com/gpu", "hami-amd": "amd.com/gpu" };

/** The shares that a pod requests from HAMi or Volcano, and those that it got. */
export interface VgpuReading {
  readonly asks: readonly VgpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
  /** The resources that these requests use. */
  readonly taken: readonly string[];
}

/** The containers of a pod with their amounts. */
export interface ContainersRead {
  readonly sets: readonly (readonly ContainerObject[])[];
  readonly amountsOf: (container: ContainerObject) => Amounts;
  readonly annotations: Readonly<Record<string, string>>;
  /** Resource names from the configuration. */
  readonly names?: ResourceNames;
}

/**
 * Reads a pod's requests from one of the two schedulers. `nvidia.com/gpu` is HAMi's if it has a HAMi measure beside it or HAMi has written
 * an allocation. If containers that run at different times request different shares, the set with the most GPUs, then the most memory,
 * counts.
 */
export function readVgpu(
  scheduler: Scheduler,
  pod: PodObject,
  { sets, amountsOf, annotations, names }: ContainersRead,
  remarks: Remarks,
): VgpuReading {
  const written = annotations[ALLOCATED[scheduler]];
  const decoded = written === undefined ? [] : decodeDevices(scheduler, written, remarks);
  const evidence = largestOf(decoded, pod, sets);
  const whole = WHOLE[scheduler];
  const measures = new Set(sets.flat().flatMap((container) => measuresIn(scheduler, amountsOf(container), names)));
  if (evidence.length === 0 && measures.size === 0) return { asks: [], evidence, taken: [] };
  let most: readonly VgpuAsk[] = [];
  for (const set of sets) {
    const asks = merge(set.flatMap((container) => askOf(scheduler, amountsOf(container), names) ?? []));
    if (compare(asks, most) > 0) most = asks;
  }
  return { asks: most, evidence, taken: [...(whole === undefined ? [] : [whole]), ...measures] };
}

/** Returns the resources of a container that belong to a scheduler. */
function measuresIn(scheduler: Scheduler, amounts: Amounts, names: ResourceNames | undefined): readonly string[] {
  return [...amounts.keys()].filter((name) => {
    const meaning = gpuResource(name, names);
    return meaning?.kind === "measure" && meaning.scheduler === scheduler;
  });
}

/**
 * Returns the request of one container. Without a number it is one GPU, which the webhooks of HAMi and Volcano fill in. With neither memory
 * nor percentage it is the whole memory (https://github.com/Project-HAMi/HAMi).
 */
function askOf(scheduler: Scheduler, amounts: Amounts, names: ResourceNames | undefined): VgpuAsk | undefined {
  const measured = new Map<string, number>();
  for (const name of measuresIn(scheduler, amounts, names)) {
    const meaning = gpuResource(name, names);
    if (meaning?.kind === "measure") measured.set(meaning.of, amounts.get(name)!);
  }
  const number = measured.get("number") ?? amounts.get(WHOLE[scheduler] ?? "");
  if (number === undefined && measured.size === 0) return undefined;
  const memoryMiB = measured.get("memory");
  const memoryPercent = memoryMiB === undefined ? (measured.get("memory-percent") ?? 100) : undefined;
  const coresPercent = measured.get("cores");
  return { kind: "vgpu", scheduler, count: number ?? 1, ...given({ memoryMiB, memoryPercent, coresPercent }) };
}

/**
 * Returns the most that a pod has of each device, over the sets of its containers that run at the same time. Schedulers write the
 * allocation of every container, init containers first, and those have ended when the others run.
 */
function largestOf(
  decoded: readonly Annotated[],
  { spec }: PodObject,
  sets: readonly (readonly ContainerObject[])[],
): readonly Annotated[] {
  const inits = objects(spec?.initContainers);
  const apps = objects(spec?.containers);
  const written = 1 + Math.max(-1, ...decoded.map(({ container }) => container));
  if (inits.length === 0 || written <= apps.length) return decoded;
  const containers = [...inits, ...apps];
  return [...new Set(decoded.map(({ uuid }) => uuid))].map((uuid) => {
    const entries = decoded.filter((entry) => entry.uuid === uuid);
    const sums = sets.map((set) => {
      const here = entries.filter(({ container }) => set.includes(containers[container]!));
      return {
        memoryMiB: here.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0),
        coresPercent: here.reduce((sum, { coresPercent }) => sum + coresPercent, 0),
      };
    });
    return {
      ...entries[0]!,
      memoryMiB: Math.max(...sums.map(({ memoryMiB }) => memoryMiB)),
      coresPercent: Math.max(...sums.map(({ coresPercent }) => coresPercent)),
    };
  });
}

/** Merges equal shares of several containers into one request. */
function merge(asks: readonly VgpuAsk[]): readonly VgpuAsk[] {
  const merged = new Map<string, VgpuAsk>();
  for (const ask of asks) {
    const key = `${ask.memoryMiB}/${ask.memoryPercent}/${ask.coresPercent}`;
    merged.set(key, { ...ask, count: ask.count + (merged.get(key)?.count ?? 0) });
  }
  return [...merged.values()];
}

function compare(a: readonly VgpuAsk[], b: readonly VgpuAsk[]): number {
  const sum = (asks: readonly VgpuAsk[], of: (ask: VgpuAsk) => number): number =>
    asks.reduce((total, ask) => total + ask.count * of(ask), 0);
  return (
    sum(a, () => 1) - sum(b, () => 1) ||
    sum(a, (ask) => ask.memoryMiB ?? 0) - sum(b, (ask) => ask.memoryMiB ?? 0) ||
    sum(a, (ask) => ask.memoryPercent ?? 0) - sum(b, (ask) => ask.memoryPercent ?? 0)
  );
}

/**
 * Decodes `UUID,NVIDIA,memMiB,cores:` per device, with `;` after each container and an empty part for a container without devices. Brackets
 * after the UUID of a GPU contain the position of a MIG instance in HAMi's own numbering: the instance is one with this amount of memory. The
 * cores of AMD's GPUs are compute units, of which the pod does not have the whole number; the request has the percentage.
 */
function decodeDevices(scheduler: Scheduler, written: string, remarks: Remarks): Annotated[] {
  const annotation = ALLOCATED[scheduler];
  const isAmd = scheduler === "hami-amd";
  const devices: Annotated[] = [];
  const wrong: string[] = [];
  written.split(";").forEach((part, container) => {
    for (const entry of part.split(":")) {
      if (entry.trim() === "") continue;
      const [uuid = "", , memory = "", cores = ""] = entry.trim().split(",");
      const plain = uuid.replace(/\[[\d-]+\]$/, "");
      const numbers = /^\d{1,15}$/.test(memory) && /^\d{1,3}$/.test(cores);
      if ((isAmd ? /^[\w-]+$/ : /^(GPU|MIG)-[\w-]+$/).test(plain) && numbers) {
        devices.push({
          by: "annotation",
          uuid: plain,
          container,
          memoryMiB: Number(memory),
          coresPercent: isAmd ? 0 : Number(cores),
          ...(plain === uuid ? {} : { isInstance: true }),
        });
      } else wrong.push(entry.trim().slice(0, 60));
    }
  });
  if (wrong.length > 0) {
    const what =
      wrong.length === 1
        ? `"${wrong[0]}" is not a device`
        : `${wrong.length} entries are not devices, the first "${wrong[0]}"`;
    remarks.push({ reason: "annotation", text: `${annotation}: ${what}; its other entries are used.` });
  }
  return devices;
}
