import type { Claim, PartOfDevice } from "./claim.ts";

/** A device of the requested kind: a GPU, its instance or partition, or the replicas of either. */
export interface CommonDevice {
  readonly gpu: string;
  /** The instance or partition; absent for a GPU. */
  readonly part?: string;
  /** 1, or the number of replicas that the device is shared as. */
  readonly members: number;
  /** The number of members that are known to belong to another holder. */
  readonly taken: number;
  readonly isUnavailable: boolean;
}

/** A pod whose devices are unknown. */
export interface CommonHolder {
  readonly holder: string;
  /** The number of devices of the kind that it has. */
  readonly count: number;
  /** Its part of each device; the whole device if absent. */
  readonly each?: PartOfDevice;
}

/** The common set of one kind of devices of a node, with its claims on each GPU. */
export interface CommonSet {
  /** The number of members of the set: GPUs, instances, partitions or replicas. 0 if all are known to belong to other holders. */
  readonly size: number;
  /** More devices are held than exist and are available, so the set includes the unavailable ones. */
  readonly isWidened: boolean;
  /** For each GPU, the claim of each common holder on each of the set's devices, in the order of devices, then holders. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
}

/**
 * Returns the claims on a node's devices of one kind (the same resource name and model) for holders without evidence (docs/gpus.md).
 * The set is all devices that are not known to belong to another holder and are available. If more are held than remain, unavailable
 * devices are included. Each common holder has `count ÷ size of the set` of every member, times its part of each device. The rest stays
 * unallocated.
 *
 * If more is held than exists, the claims on a GPU add up to more than 1, and `gpuShares` divides them by their sum.
 */
export function heldInCommon(devices: readonly CommonDevice[], holders: readonly CommonHolder[]): CommonSet {
  const free = devices
    .map((device) => ({ ...device, members: device.members - device.taken }))
    .filter(({ members }) => members > 0);
  const available = free.filter(({ isUnavailable }) => !isUnavailable);
  const isWidened =
    holders.reduce((sum, { count }) => sum + count, 0) > sizeOf(available) && free.length > available.length;
  const set = isWidened ? free : available;
  const setSize = sizeOf(set);
  const claims = new Map<string, Claim[]>();
  for (const { gpu, part, members } of set) {
    const ofGpu = claims.get(gpu) ?? [];
    claims.set(gpu, ofGpu);
    for (const { holder, count, each } of holders) {
      const what = { what: "common", count, setSize, members } as const;
      const held = { ...what, ...(part === undefined ? {} : { part }), ...(each === undefined ? {} : { each }) };
      ofGpu.push({ holder, held });
    }
  }
  return { size: setSize, isWidened, claims };
}

function sizeOf(set: readonly CommonDevice[]): number {
  return set.reduce((sum, { members }) => sum + members, 0);
}
