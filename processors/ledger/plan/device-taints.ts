import type { SliceDevice } from "../../../domain/cluster-fact.ts";
import type { NodeRecord } from "./node-record.ts";
import type { FilledSlot } from "./slots.ts";

/**
 * Returns the key of a GPU's taint at a time. Undefined if no device or not every device of the GPU has a taint: a driver can publish a GPU
 * in several shapes, and taint those that do not fit the current shape.
 */
export function taintOf({ slices, taints }: NodeRecord, slot: FilledSlot, at: number): string | undefined {
  const own = taints.filter(({ device, from, until }) => from <= at && at < until && isOf(slot, device));
  const [first] = own;
  if (first === undefined) return undefined;
  const tainted = new Set(own.map(({ device }) => device.name));
  return slices.filter((device) => isOf(slot, device)).every(({ name }) => tainted.has(name)) ? first.key : undefined;
}

function isOf({ devices }: FilledSlot, { uuid, parentUuid, pciBusId }: SliceDevice): boolean {
  return devices.some(({ device }) => {
    if (device.uuid !== undefined && (uuid !== undefined || parentUuid !== undefined))
      return device.uuid === (parentUuid ?? uuid);
    return pciBusId !== undefined && device.pciBusId?.toLowerCase() === pciBusId.toLowerCase();
  });
}
