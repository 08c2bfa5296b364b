import { addHours, emptyHours, hasHour, type HourSet } from "./hour-set.ts";

/** Hours of a node's GPUs, by their slots. */
export type SlotHours = ReadonlyMap<number, HourSet>;

/** Returns the hours of a slot. If there are none, an empty set for the span of another set is added. */
export function hoursOf(bySlot: Map<number, HourSet>, slot: number, like: HourSet): HourSet {
  const known = bySlot.get(slot);
  if (known !== undefined) return known;
  const created = emptyHours(like);
  bySlot.set(slot, created);
  return created;
}

/** Adds the hours of each slot. */
export function addSlotHours(to: Map<number, HourSet>, from: SlotHours): void {
  for (const [slot, hours] of from) addHours(hoursOf(to, slot, hours), hours);
}

/** Returns true if a slot has an hour. */
export function hasSlotHour(bySlot: SlotHours, slot: number, hour: number): boolean {
  const ofSlot = bySlot.get(slot);
  return ofSlot !== undefined && hasHour(ofSlot, hour);
}
