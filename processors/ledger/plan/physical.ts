import { countOf, withShown } from "../../../domain/share/node-gpus.ts";
import type { Machine, MachineState, NodeRecord, SeenGpu } from "./node-record.ts";

/**
 * Returns a record with the GPU counts of objects and samples combined. Samples are a lower bound, and they are the count if there is no
 * other. Each seen GPU gets a slot of the machine.
 */
export function withPhysicalGpus(record: NodeRecord): NodeRecord {
  if (record.isBare || record.seen.length === 0) return record;
  const shown = new Set(record.seen.map(({ index }) => index)).size;
  const machines = record.machines.map((machine) => withShownGpus(machine, shown));
  const most = Math.max(...machines.map((machine) => machine.most));
  return { ...record, machines, seen: inSlots(record.seen, most) };
}

function withShownGpus(machine: Machine, shown: number): Machine {
  const states = machine.states.map((state): MachineState => {
    const gpus = withShown(state.fact.gpus, shown);
    return gpus === state.fact.gpus ? state : { ...state, fact: { ...state.fact, gpus } };
  });
  const isShown = states.some(({ fact }) => countOf(fact.gpus) === shown);
  const most = machine.isGuess === true && isShown ? shown : Math.max(machine.most, shown);
  return { ...machine, states, most };
}

/**
 * Assigns slots to GPUs. An exporter's index is the slot if it is below the machine's count. Indexes can have gaps where another device has
 * an index. A GPU beyond the last slot gets the lowest slot that no other GPU has.
 */
function inSlots(seen: readonly SeenGpu[], count: number): readonly SeenGpu[] {
  if (seen.every(({ index }) => index < count)) return seen;
  const indexes = [...new Set(seen.map(({ index }) => index))].toSorted((a, b) => a - b);
  const taken = new Set(indexes.filter((index) => index < count));
  const slots = new Map<number, number>();
  for (const index of indexes) {
    let slot = index;
    if (index >= count) {
      slot = 0;
      while (taken.has(slot)) slot += 1;
      taken.add(slot);
    }
    slots.set(index, slot);
  }
  return seen.map((gpu) => ({ ...gpu, index: slots.get(gpu.index)! }));
}
