import type { Proofs } from "../../../domain/attribution/proofs.ts";
import { knownHolders, type KnownHolders } from "./ladder.ts";
import { stateOf, type Slots } from "./machine-slots.ts";
import type { NodeRecord, SeenFault } from "./node-record.ts";
import type { FilledSlot } from "./slots.ts";

/** Returns the code of a slot's XID at a time; undefined if there is none. */
export type Faults = (slot: FilledSlot, at: number) => number | undefined;

/**
 * Creates a lookup of a slot's XID at a time. An XID of the hardware class counts as long as samples show it, until the first activity of a
 * pod that was bound after it.
 */
export function createFaults(record: NodeRecord, proofs: Proofs, slots: Slots): Faults {
  const ends = new Map<SeenFault, number>();

  function endOf(fault: SeenFault, slot: number): number {
    const later = [...record.pods.values()].filter(({ holding }) => holding.from > fault.from);
    const returns = later.flatMap(({ holding }) => {
      const activeAt = fault.activeAt.find((at) => holding.from <= at && at < holding.until);
      return activeAt !== undefined && isOn(holding.uid, slot, activeAt) ? [activeAt] : [];
    });
    return Math.min(fault.until, ...returns);
  }

  function isOn(uid: string, slot: number, at: number): boolean {
    return knownAt(at).holders.some((one) => one.slot === slot && one.holder.kind === "pod" && one.holder.uid === uid);
  }

  function knownAt(at: number): KnownHolders {
    const machine = record.machines.find(({ from, until }) => from <= at && at < until);
    const state = machine === undefined ? undefined : stateOf(machine, at);
    return knownHolders(record, slots(machine, state, at), state?.fact.gpus ?? [], proofs, at);
  }

  return ({ slot, seen }, at) => {
    const fault = seen?.faults.find(({ from, until }) => from <= at && at < until);
    if (fault === undefined) return undefined;
    const end = ends.get(fault) ?? endOf(fault, slot);
    ends.set(fault, end);
    return at < end ? fault.code : undefined;
  };
}
