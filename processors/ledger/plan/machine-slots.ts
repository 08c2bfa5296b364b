import { holdsAt } from "../../../domain/holding.ts";
import { physicalDevices } from "../../../domain/share/node-gpus.ts";
import type { KnownDates } from "./known-dates.ts";
import { stateAt } from "./condition.ts";
import type { Machine, MachineState, NodeRecord } from "./node-record.ts";
import { fillSlot, seenIn, type FilledSlot, type PublishedGpu, type SlotContent } from "./slots.ts";

/** Returns a machine's state at a time. The first state also holds for the time before it. Undefined for a machine without a state. */
export function stateOf(machine: Machine, at: number): MachineState | undefined {
  return stateAt(machine, at) ?? machine.states[0];
}

/** Returns the slots of a machine, or of a node without Kubernetes, at a time. */
export type Slots = (
  machine: Machine | undefined,
  state: MachineState | undefined,
  at: number,
) => readonly FilledSlot[];

/**
 * Creates the slots of a node. A machine's slots are the GPUs that it was delivered with, and at least those that its exporter shows.
 * Without Kubernetes they are the GPUs in recent samples. A slot without a change between two times is the same object.
 */
export function createSlots(record: NodeRecord, dates: KnownDates): Slots {
  const { seen } = record;
  const shownGpus = new Set(seen.map(({ index }) => index)).size;
  const published = publishedGpus(record);
  const claimedAt = claimedInstances(record);
  const filled = new Map<number, { readonly of: SlotContent; readonly slot: FilledSlot }>();

  function fill(slot: number, of: SlotContent, at: number): FilledSlot {
    const last = filled.get(slot);
    const isSame = last !== undefined && last.of.seen === of.seen && last.of.gpus === of.gpus;
    // Instances are created and deleted over time.
    const isUncut = (of.seen === undefined || of.seen.parts.length === 0) && of.claimed.length === 0;
    if (isSame && isUncut && last.of.claimed.length === 0) return last.slot;
    const next = fillSlot(slot, of, at);
    filled.set(slot, { of, slot: next });
    return next;
  }

  return (machine, state, at) => {
    if (machine === undefined) {
      const here = seen.filter(({ from, until }) => from <= at && at < until);
      const indexes = [...new Set(here.map(({ index }) => index))].toSorted((a, b) => a - b);
      return indexes.map((slot) => {
        const shown = seenIn(slot, here, at);
        return fill(slot, { ...NOTHING, seen: shown, pciBusId: shown?.pciBusId }, at);
      });
    }
    const delivered = Math.max((state === undefined ? undefined : dates.delivered(state)) ?? machine.most, shownGpus);
    const gpus = state?.fact.gpus ?? NOTHING.gpus;
    return Array.from({ length: delivered }, (_, slot) => {
      const shown = seenIn(slot, seen, at);
      const { uuid, pciBusId } = shown ?? published.get(slot) ?? {};
      const own = shown === undefined ? published.get(slot) : undefined;
      return fill(slot, { seen: shown, published: own, gpus, uuid, pciBusId, claimed: claimedAt(uuid, at) }, at);
    });
  };
}

const NOTHING: SlotContent = {
  seen: undefined,
  published: undefined,
  gpus: [],
  uuid: undefined,
  pciBusId: undefined,
  claimed: [],
};

/**
 * Returns the identity of the GPUs in slots without samples, from the devices that DRA drivers publish and claims have. A device that
 * NVIDIA's driver names `gpu-3` is in slot 3, unless another GPU was seen there; then it is in the first free slot.
 */
function publishedGpus({ seen, slices, pods, claimed }: NodeRecord): ReadonlyMap<number, PublishedGpu> {
  const shown = new Set(seen.flatMap(({ uuid, pciBusId }) => [uuid, pciBusId?.toLowerCase()]));
  const taken = new Set(seen.map(({ index }) => index));
  const ofClaims = [...pods.keys()]
    .flatMap((uid) => claimed(uid))
    .map(({ device, ...rest }) => ({ name: device, ...rest }));
  const gpus = new Map<number, PublishedGpu>();
  const waiting: PublishedGpu[] = [];
  for (const parts of physicalDevices([...slices, ...ofClaims])) {
    const whole = parts.find(({ parentUuid }) => parentUuid === undefined);
    const { name, uuid: own, pciBusId } = whole ?? parts[0]!;
    const [model, memoryMiB] = [parts.find((part) => part.model !== undefined)?.model, whole?.memoryMiB];
    const uuid = parts.find(({ parentUuid }) => parentUuid !== undefined)?.parentUuid ?? own;
    if (uuid === undefined && pciBusId === undefined) continue;
    if (shown.has(uuid ?? "") || shown.has(pciBusId?.toLowerCase() ?? "")) continue;
    const gpu: PublishedGpu = {
      ...(uuid === undefined ? {} : { uuid }),
      ...(pciBusId === undefined ? {} : { pciBusId }),
      ...(model === undefined ? {} : { model }),
      ...(memoryMiB === undefined ? {} : { memoryMiB }),
    };
    const index = Number(/^gpu-(\d+)/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(index) || taken.has(index)) waiting.push(gpu);
    else gpus.set(index, gpu);
    taken.add(index);
  }
  for (const gpu of waiting) {
    let slot = 0;
    while (taken.has(slot)) slot += 1;
    taken.add(slot);
    gpus.set(slot, gpu);
  }
  return gpus;
}

/** Returns a lookup of the MIG instances of a GPU that exist because pods have them by claims at a time. */
function claimedInstances({
  pods,
  claimed,
}: NodeRecord): (uuid: string | undefined, at: number) => SlotContent["claimed"] {
  const all = [...pods].flatMap(([uid, { holding }]) =>
    claimed(uid).flatMap(({ parentUuid, profile, device }) =>
      parentUuid === undefined || profile === undefined ? [] : [{ holding, parentUuid, part: device, profile }],
    ),
  );
  if (all.length === 0) return () => NOTHING.claimed;
  return (uuid, at) => {
    const here = all.filter(({ parentUuid, holding }) => parentUuid === uuid && holdsAt(holding, at));
    return [...new Map(here.map(({ part, profile }) => [part, { part, profile }])).values()];
  };
}
