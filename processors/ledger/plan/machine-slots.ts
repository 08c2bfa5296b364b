import type { KnownDates } from "./known-dates.ts";
import { stateAt } from "./condition.ts";
import type { Machine, MachineState, NodeRecord } from "./node-record.ts";
import { fillSlot, seenIn, type FilledSlot } from "./slots.ts";

/** A machine's state at a time; what is said of it first holds for the time before it too. */
export function stateOf(machine: Machine, at: number): MachineState | undefined {
  return stateAt(machine, at) ?? machine.states[0];
}

/** A machine's slots are the GPUs that it was delivered with; without Kubernetes, those that samples told of lately. */
export function filledSlots(
  { seen, pods, claimed }: NodeRecord,
  machine: Machine | undefined,
  state: MachineState | undefined,
  at: number,
  dates: KnownDates,
): readonly FilledSlot[] {
  if (machine === undefined) {
    const here = seen.filter(({ from, until }) => from <= at && at < until);
    const indexes = [...new Set(here.map(({ index }) => index))].toSorted((a, b) => a - b);
    return indexes.map((slot) => fillSlot(slot, { seen: seenIn(slot, here, at), gpus: [] }, at));
  }
  const delivered = (state === undefined ? undefined : dates.delivered(state)) ?? machine.most;
  const uuids = uuidsByName([...pods.keys()].flatMap((uid) => claimed(uid)));
  return Array.from({ length: delivered }, (_, slot) => {
    const uuid = uuids.get(slot);
    const gpus = state?.fact.gpus ?? [];
    return fillSlot(slot, { seen: seenIn(slot, seen, at), gpus, ...(uuid === undefined ? {} : { uuid }) }, at);
  });
}

/** NVIDIA's DRA driver calls the GPU of index 3 `gpu-3`. */
function uuidsByName(devices: ReturnType<NodeRecord["claimed"]>): ReadonlyMap<number, string> {
  return new Map(
    devices.flatMap(({ device, uuid }) => {
      const index = /^gpu-(\d+)$/.exec(device)?.[1];
      return index === undefined || uuid === undefined ? [] : [[Number(index), uuid] as const];
    }),
  );
}
