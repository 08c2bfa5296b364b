import type { SliceDevice } from "../../../domain/cluster-fact.ts";
import type { Device } from "../../../domain/device.ts";
import { canonicalModel, meansModel } from "../../../domain/gpu-model/names.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import type { GpuAt, GpuLayout } from "../../../domain/share/layout.ts";
import { migProductOf } from "../../../domain/share/mig-product.ts";
import type { SeenGpu, SeenPart } from "./node-record.ts";

/** A device of a slot at a moment: the GPU, or its instance or partition. */
export interface SlotDevice {
  readonly slot: number;
  /** Empty for the GPU itself. */
  readonly part: string;
  readonly device: Device;
}

/** A slot with its GPU at a moment. */
export interface FilledSlot {
  readonly slot: number;
  readonly seen: SeenGpu | undefined;
  readonly gpu: GpuAt;
  readonly devices: readonly SlotDevice[];
}

/**
 * Returns the GPU in a slot at a time: the last one that was seen there by then, otherwise the first one. Undefined if none was seen in the
 * slot.
 */
export function seenIn(slot: number, seen: readonly SeenGpu[], at: number): SeenGpu | undefined {
  const here = seen.filter(({ index }) => index === slot);
  return here.findLast(({ from }) => from <= at) ?? here[0];
}

/** A GPU that a DRA driver publishes or a claim has, and that was not seen. */
export type PublishedGpu = Pick<SliceDevice, "uuid" | "pciBusId" | "model" | "memoryMiB">;

/** The known data of the GPU in a slot. */
export interface SlotContent {
  readonly seen: SeenGpu | undefined;
  /** The GPU of a slot in which none was seen. */
  readonly published: PublishedGpu | undefined;
  /** All GPUs of the node by its labels. */
  readonly gpus: readonly NodeGpus[];
  /** From samples, otherwise from DRA. */
  readonly uuid: string | undefined;
  readonly pciBusId: string | undefined;
  /** Instances that pods have by claims. They count if neither samples nor labels show any. */
  readonly claimed: readonly Pick<SeenPart, "part" | "profile">[];
}

/** Returns a slot at a time, from samples and the node's labels. */
export function fillSlot(slot: number, content: SlotContent, at: number): FilledSlot {
  const { seen, published, gpus, uuid, pciBusId, claimed } = content;
  const kind = kindOf(slot, gpus);
  const known = partsAt(slot, seen, kind, at);
  const parts = known.length > 0 ? known : claimed;
  const { model, memoryMiB } = ownOf(seen ?? published, kind);
  const gpu = {
    ...(model === undefined ? {} : { model }),
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    layout: layoutOf(parts, kind),
  };
  const whole: Device = {
    gpu: String(slot),
    ...optional("uuid", uuid),
    ...optional("pciBusId", pciBusId),
    ...optional("model", model),
  };
  if (parts.length === 0) return { slot, seen, gpu, devices: [{ slot, part: "", device: whole }] };
  const devices = parts.map(({ part, profile }): SlotDevice => {
    const own = profile === "" ? { partition: part } : { instance: part, profile };
    return { slot, part, device: { ...whole, ...own } };
  });
  return { slot, seen, gpu, devices };
}

/**
 * Returns the model and memory of the GPU in a slot. Its own samples, or the slice of its driver, take precedence over a label of the whole
 * node. If both name the same model, the label counts, because the model was known by it before the first sample.
 */
function ownOf(
  seen: Pick<SeenGpu, "model" | "memoryMiB"> | undefined,
  kind: NodeGpus | undefined,
): { readonly model: string | undefined; readonly memoryMiB: number | undefined } {
  const own = seen?.model === undefined ? undefined : canonicalModel(seen.model, seen.memoryMiB);
  const isAnother = own !== undefined && kind?.model !== undefined && !meansModel(kind.model, own);
  if (isAnother) return { model: own, memoryMiB: seen?.memoryMiB };
  return { model: kind?.model ?? own, memoryMiB: kind?.memoryMiB ?? seen?.memoryMiB };
}

/**
 * Returns the kind of GPU in a slot. A node with several kinds has them one after the other. Slots beyond all kinds have the last one.
 * Undefined without a kind.
 */
export function kindOf(slot: number, gpus: readonly NodeGpus[]): NodeGpus | undefined {
  let first = 0;
  for (const kind of gpus) {
    if (slot < first + kind.count) return kind;
    first += kind.count;
  }
  return gpus.at(-1);
}

const UNSEEN = "unseen-";

/** Returns whether a part is an instance that the node counts and no sample shows. */
export function isUnseenPart(part: string): boolean {
  return part.startsWith(UNSEEN);
}

function partsAt(
  slot: number,
  seen: SeenGpu | undefined,
  kind: NodeGpus | undefined,
  at: number,
): readonly Pick<SeenPart, "part" | "profile">[] {
  if (seen === undefined)
    return kind?.partitions === undefined ? labeledParts(slot, kind) : partitionsOf(kind.partitions);
  const here = seen.parts.filter(({ from, until }) => from <= at && at < until);
  return [...here.toSorted((a, b) => Number(a.part) - Number(b.part)), ...unseenParts(here, seen, kind)];
}

/**
 * Returns the instances that the node counts and the exporter does not show, although it shows others of the GPU. They are known if each GPU of
 * the node has the same number of each profile, and if they fit on the GPU beside those that are shown: the counts of a former layout do not.
 */
function unseenParts(
  here: readonly SeenPart[],
  { model, memoryMiB }: SeenGpu,
  kind: NodeGpus | undefined,
): readonly Pick<SeenPart, "part" | "profile">[] {
  if (kind === undefined || here.length === 0 || kind.count === 0) return [];
  const counts = Object.entries(kind.mig.profiles);
  if (counts.some(([, count]) => count % kind.count !== 0)) return [];
  const unseen = counts.flatMap(([profile, count]) => {
    const shown = here.filter((part) => part.profile === profile).length;
    return Array.from({ length: Math.max(0, count / kind.count - shown) }, () => profile);
  });
  const { product } = migProductOf(model ?? kind.model, memoryMiB ?? kind.memoryMiB);
  const all = [...here.map(({ profile }) => profile), ...unseen].map((profile) =>
    product.profiles.find(({ name }) => name === profile),
  );
  const sum = (slices: "computeSlices" | "memorySlices"): number =>
    all.reduce((total, profile) => total + (profile?.[slices] ?? Infinity), 0);
  if (sum("computeSlices") > product.computeSlices || sum("memorySlices") > product.memorySlices) return [];
  return unseen.map((profile, index) => ({ part: `${UNSEEN}${index}`, profile }));
}

function partitionsOf(count: number): readonly Pick<SeenPart, "part" | "profile">[] {
  return Array.from({ length: count }, (_, part) => ({ part: String(part), profile: "" }));
}

/** Returns the instances that the node's labels count, distributed over its GPUs in order, for slots without samples. */
function labeledParts(slot: number, kind: NodeGpus | undefined): readonly Pick<SeenPart, "part" | "profile">[] {
  if (kind === undefined || kind.count === 0) return [];
  const profiles = Object.entries(kind.mig.profiles).flatMap(([profile, count]) => {
    const each = Math.ceil(count / kind.count);
    return Array.from({ length: Math.max(0, Math.min(each, count - slot * each)) }, () => profile);
  });
  return profiles.map((profile, index) => ({ part: String(index), profile }));
}

function layoutOf(parts: readonly Pick<SeenPart, "part" | "profile">[], kind: NodeGpus | undefined): GpuLayout {
  const [first] = parts;
  const replicas = kind === undefined ? 1 : kind.replicas;
  if (first === undefined) {
    return kind !== undefined && (kind.sharing !== "none" || replicas > 1)
      ? { kind: "shared", replicas }
      : { kind: "whole" };
  }
  if (first.profile === "") return { kind: "partitions", count: parts.length };
  const instances = parts.map(({ part: id, profile }) => ({ id, profile, ...(replicas > 1 ? { replicas } : {}) }));
  return { kind: "mig", instances };
}

function optional<Name extends string>(name: Name, value: string | undefined): { readonly [N in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: string };
}
