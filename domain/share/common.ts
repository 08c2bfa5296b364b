import type { Claim, PartOfDevice } from "./claim.ts";

/** A device of the kind that is asked for: a GPU, an instance or partition of one, or the replicas of either. */
export interface CommonDevice {
  readonly gpu: string;
  /** The instance or partition; absent for a GPU. */
  readonly part?: string;
  /** 1, or the replicas that the device is shared as. */
  readonly members: number;
  /** Those of them that are known to be another's. */
  readonly taken: number;
  readonly isUnavailable: boolean;
}

/** A pod of which nothing tells which devices it has. */
export interface CommonHolder {
  readonly holder: string;
  /** How many of the kind it has. */
  readonly count: number;
  /** What it has of each of them; all of it where this is left out. */
  readonly each?: PartOfDevice;
}

/** The common set of one kind of devices of a node, and what it makes of each GPU. */
export interface CommonSet {
  /** The members of the set: GPUs, instances, partitions or replicas. 0 where all are known to be another's. */
  readonly size: number;
  /** More are held than are there and available: the unavailable ones are in the set too. */
  readonly isWidened: boolean;
  /** By GPU, the claim of each common holder on each of the set's devices, in the order of devices, then holders. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
}

/**
 * Who holds what of a node's devices of one kind (the same resource name and model) where nothing tells (ledger, "Held in
 * common"): the set are those that are not known to be another's and not unavailable, or all that are not known to be another's
 * if more are held than remain. Each common holder has `count ÷ size of the set` of every member, and of that what it has of each
 * device (ledger, "Shares"); the rest stays unallocated.
 * Where more is held than is there, the claims on a GPU add up to more than 1, and `gpuShares` divides them by their sum.
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
