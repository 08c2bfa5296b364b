import { gpuKey, instanceKey, type Device } from "../../../domain/device.ts";
import type { Holder } from "../../../domain/holder.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import type { ScrapeShape } from "../../../domain/scrape.ts";
import { cutGpu, type CutGpu } from "../../../domain/share/cut.ts";
import type { GpuLayout } from "../../../domain/share/layout.ts";
import type { MigMeasure } from "../../../domain/share/mig-shape.ts";

/** The newest scrape of a target. */
export interface TargetSample {
  readonly atMillis: number;
  readonly shape: ScrapeShape;
  /** One holder for each row. */
  readonly holders: readonly Holder[];
  /** As `readRows` writes them. The same array as long as the shape is the same. */
  readonly readings: Float64Array;
}

/** A GPU of a page. */
export interface GpuRows {
  readonly key: string;
  readonly sample: TargetSample;
  /** The row with the values of the whole GPU. Other rows repeat them. */
  readonly first: number;
  /** The rows of each device by instance or partition, in the page's order. The GPU's own device has an empty key. */
  readonly devices: Map<string, [number, ...number[]]>;
}

/** Returns the GPUs on pages, each from the first page that has it. */
export function gpusOf(samples: readonly TargetSample[]): readonly GpuRows[] {
  const gpus = new Map<string, GpuRows>();
  for (const sample of samples) {
    for (const [row, device] of sample.shape.devices.entries()) {
      const key = gpuKey(device);
      const gpu = gpus.get(key);
      if (gpu === undefined && key !== "") {
        gpus.set(key, { key, sample, first: row, devices: new Map([[instanceKey(device), [row]]]) });
      } else if (gpu?.sample === sample) {
        const rows = gpu.devices.get(instanceKey(device));
        if (rows === undefined) gpu.devices.set(instanceKey(device), [row]);
        else rows.push(row);
      }
    }
  }
  return [...gpus.values()];
}

/** Returns how the instances or partitions on a page cut their GPU, in a policy's measure. */
export function cutOf(gpu: GpuRows, kind: NodeGpus | undefined, measure: MigMeasure): CutGpu {
  const { shape } = gpu.sample;
  const parts = [...gpu.devices].flatMap(([id, [row]]) => (id === "" ? [] : [{ id, device: shape.devices[row]! }]));
  const isMig = parts.some(({ device }) => device.instance !== undefined);
  const layout: GpuLayout = isMig
    ? { kind: "mig", instances: parts.map(({ id, device }) => ({ id, ...profileOf(device) })) }
    : { kind: "partitions", count: parts.length };
  const model = kind?.model ?? shape.devices[gpu.first]!.model;
  const { memoryMiB } = kind ?? {};
  return cutGpu(
    { layout, ...(model === undefined ? {} : { model }), ...(memoryMiB === undefined ? {} : { memoryMiB }) },
    measure,
  );
}

function profileOf({ profile, claim }: Device): { readonly profile?: string } {
  const own = profile ?? claim?.migProfile;
  return own === undefined ? {} : { profile: own };
}

/** A row of a device, and its holder. */
export interface HeldRow {
  readonly row: number;
  readonly holder: Holder;
}

/** The holders of a device according to its rows. */
export interface DeviceHolders {
  /** The holders with their own row, without duplicates. */
  readonly named: readonly HeldRow[];
  /** The total number of pods. */
  readonly count: number;
  /** The holder of every row. A holder that is known by the node alone does not have the device for itself. */
  readonly sole: Holder | undefined;
}

/** Returns the holders of a device from its rows. */
export function holdersOf({ sample }: GpuRows, rows: readonly number[]): DeviceHolders {
  const held = rows.map((row): HeldRow => ({ row, holder: sample.holders[row]! }));
  const isOwn = ({ holder }: HeldRow): boolean => holder.holders === 1 && holder.evidence !== "node";
  const own = held.filter(isOwn);
  const named = own.filter(({ holder }, index) => own.findIndex((other) => isSame(other.holder, holder)) === index);
  const common = held.filter((row) => !isOwn(row)).map(({ holder }) => holder.holders);
  const isAlone = own.length === rows.length && named.length === 1;
  return { named, count: Math.max(named.length, ...common), sole: isAlone ? named[0]!.holder : undefined };
}

/** Compares holders by name, because their series are distinguished by it: two pods with the same name never exist at the same time. */
function isSame(one: Holder, other: Holder): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}
