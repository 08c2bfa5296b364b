import type { DeviceEvidence, GpuAsk } from "../../../../domain/workload.ts";
import type { ContainerObject } from "../pod-object.ts";
import type { Remarks } from "../remark.ts";
import { given } from "../wire.ts";
import type { Amounts } from "./amounts.ts";

type VgpuAsk = Extract<GpuAsk, { kind: "vgpu" }>;
type Scheduler = VgpuAsk["scheduler"];

/** The names of a scheduler's resources, and the annotation in which it writes what it gave. */
interface VgpuNames {
  readonly number: string;
  readonly memory: string;
  readonly memoryPercent: string;
  readonly cores: string;
  readonly allocated: string;
}

const NAMES: Readonly<Record<Scheduler, VgpuNames>> = {
  hami: {
    number: "nvidia.com/gpu",
    memory: "nvidia.com/gpumem",
    memoryPercent: "nvidia.com/gpumem-percentage",
    cores: "nvidia.com/gpucores",
    allocated: "hami.io/vgpu-devices-allocated",
  },
  volcano: {
    number: "volcano.sh/vgpu-number",
    memory: "volcano.sh/vgpu-memory",
    memoryPercent: "volcano.sh/vgpu-memory-percentage",
    cores: "volcano.sh/vgpu-cores",
    allocated: "volcano.sh/vgpu-ids-new",
  },
};

/** The shares that a pod asks of HAMi or of Volcano, and those that it got. */
export interface VgpuReading {
  readonly asks: readonly VgpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
  /** The resources that are spoken for by these asks. */
  readonly taken: readonly string[];
}

/**
 * Reads what a pod asks of one of the two schedulers. `nvidia.com/gpu` is HAMi's where a measure of HAMi's stands
 * beside it or HAMi says that it gave devices. Where containers that run at different times ask for different shares,
 * the set with the most GPUs, then the most memory, counts.
 */
export function readVgpu(
  scheduler: Scheduler,
  sets: readonly (readonly ContainerObject[])[],
  amountsOf: (container: ContainerObject) => Amounts,
  annotations: Readonly<Record<string, string>>,
  remarks: Remarks,
): VgpuReading {
  const names = NAMES[scheduler];
  const written = annotations[names.allocated];
  const evidence = written === undefined ? [] : decodeDevices(names.allocated, written, remarks);
  const measures = [names.memory, names.memoryPercent, names.cores];
  const speaks =
    evidence.length > 0 ||
    sets.some((set) =>
      set.some((container) => {
        const amounts = amountsOf(container);
        return measures.some((name) => amounts.has(name)) || (scheduler === "volcano" && amounts.has(names.number));
      }),
    );
  if (!speaks) return { asks: [], evidence, taken: [] };
  let most: readonly VgpuAsk[] = [];
  for (const set of sets) {
    const asks = merge(set.flatMap((container) => askOf(scheduler, names, amountsOf(container)) ?? []));
    if (compare(asks, most) > 0) most = asks;
  }
  return { asks: most, evidence, taken: [names.number, ...measures] };
}

/**
 * What one container asks. Without a number it is one GPU, which HAMi's and Volcano's webhooks fill in; with neither
 * memory nor percentage it is the whole memory
 * (https://github.com/Project-HAMi/HAMi).
 */
function askOf(scheduler: Scheduler, names: VgpuNames, amounts: Amounts): VgpuAsk | undefined {
  const memoryMiB = amounts.get(names.memory);
  const percent = amounts.get(names.memoryPercent);
  const coresPercent = amounts.get(names.cores);
  const number = amounts.get(names.number);
  if (number === undefined && memoryMiB === undefined && percent === undefined && coresPercent === undefined)
    return undefined;
  const memoryPercent = memoryMiB === undefined ? (percent ?? 100) : undefined;
  return { kind: "vgpu", scheduler, count: number ?? 1, ...given({ memoryMiB, memoryPercent, coresPercent }) };
}

/** Equal shares of several containers as one ask. */
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
 * Decodes `UUID,NVIDIA,memMiB,cores:` per device, `;` after each container, an empty part for a container without. A
 * MIG instance of HAMi's stands in brackets behind the UUID of its GPU, which is what counts here.
 */
function decodeDevices(annotation: string, written: string, remarks: Remarks): DeviceEvidence[] {
  const devices: DeviceEvidence[] = [];
  const wrong: string[] = [];
  written.split(";").forEach((part, container) => {
    for (const entry of part.split(":")) {
      if (entry.trim() === "") continue;
      const [uuid = "", , memory = "", cores = ""] = entry.trim().split(",");
      const plain = uuid.replace(/\[[\d-]+\]$/, "");
      const numbers = /^\d{1,15}$/.test(memory) && /^\d{1,3}$/.test(cores);
      if (/^(GPU|MIG)-[\w-]+$/.test(plain) && numbers) {
        devices.push({
          by: "annotation",
          uuid: plain,
          container,
          memoryMiB: Number(memory),
          coresPercent: Number(cores),
        });
      } else wrong.push(entry.trim().slice(0, 60));
    }
  });
  if (wrong.length > 0) {
    const what =
      wrong.length === 1
        ? `"${wrong[0]}" is no device`
        : `${wrong.length} entries are no devices, the first "${wrong[0]}"`;
    remarks.push({ reason: "annotation", text: `${annotation}: ${what}; what it says of others counts.` });
  }
  return devices;
}
