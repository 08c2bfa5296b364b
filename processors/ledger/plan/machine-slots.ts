import type { KnownDates } from "./known-dates.ts";
import { stateAt } from "./condition.ts";
import type { Machine, MachineState, NodeRecord } from "./node-record.ts";
import { fillSlot, seenIn, type FilledSlot, type SlotContent } from "./slots.ts";

/** A machine's state at a time; what is said of it first holds for the time before it too. */
export function stateOf(machine: Machine, at: number): MachineState | undefined {
  return stateAt(machine, at) ?? machine.states[0];
}

/** The slots of a machine, or of a node without Kubernetes, at a time. */
export type Slots = (
  machine: Machine | undefined,
  state: MachineState | undefined,
  at: number,
) => readonly FilledSlot[];

/**
 * A machine's slots are the GPUs that it was delivered with; without Kubernetes, those that samples told of lately. A slot in
 * which nothing changes from one time to the next is the same object.
 */
export function createSlots({ seen, pods, claimed }: NodeRecord, dates: KnownDates): Slots {
  const uuids = uuidsByName([...pods.keys()].flatMap((uid) => claimed(uid)));
  const filled = new Map<number, { readonly of: SlotContent; readonly slot: FilledSlot }>();

  function fill(slot: number, of: SlotContent, at: number): FilledSlot {
    const last = filled.get(slot);
    const isSame = last !== undefined && last.of.seen === of.seen && last.of.gpus === of.gpus;
    // Instances come and go.
    if (isSame && (of.seen === undefined || of.seen.parts.length === 0)) return last.slot;
    const next = fillSlot(slot, of, at);
    filled.set(slot, { of, slot: next });
    return next;
  }

  return (machine, state, at) => {
    if (machine === undefined) {
      const here = seen.filter(({ from, until }) => from <= at && at < until);
      const indexes = [...new Set(here.map(({ index }) => index))].toSorted((a, b) => a - b);
      return indexes.map((slot) => fill(slot, { seen: seenIn(slot, here, at), gpus: NO_GPUS, uuid: undefined }, at));
    }
    const delivered = (state === undefined ? undefined : dates.delivered(state)) ?? machine.most;
    const gpus = state?.fact.gpus ?? NO_GPUS;
    return Array.from({ length: delivered }, (_, slot) =>
      fill(slot, { seen: seenIn(slot, seen, at), gpus, uuid: uuids.get(slot) }, at),
    );
  };
}

const NO_GPUS: SlotContent["gpus"] = [];

/** NVIDIA's DRA driver calls the GPU of index 3 `gpu-3`. */
function uuidsByName(devices: ReturnType<NodeRecord["claimed"]>): ReadonlyMap<number, string> {
  return new Map(
    devices.flatMap(({ device, uuid }) => {
      const index = /^gpu-(\d+)$/.exec(device)?.[1];
      return index === undefined || uuid === undefined ? [] : [[Number(index), uuid] as const];
    }),
  );
}
