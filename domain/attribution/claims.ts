import type { ClusterFactBodies, SliceDevice } from "../cluster-fact.ts";
import { compareFacts, type OrderedFact } from "../fact.ts";
import type { ClaimedDevice } from "../holding.ts";

/** A claim with its name, its devices, and the pods that it is reserved for. */
export interface Claim {
  readonly namespace: string;
  readonly name: string;
  readonly body: ClusterFactBodies["ResourceClaim"];
}

/** The DRA claims of a cluster, and the slices in which drivers describe their devices. */
export interface Claims {
  /** Sets the newest state of a claim; undefined if it was deleted. Returns the UIDs of the affected pods. */
  putClaim(uid: string, claim: Claim | undefined): readonly string[];
  /** Sets the newest state of a slice; undefined if it was deleted. Returns the UIDs of the affected pods. */
  putSlice(uid: string, slice: Slice | undefined): readonly string[];
  /** Returns the devices of all claims that are reserved for a pod. */
  of(podUid: string): readonly ClaimedDevice[];
  /** Returns the UIDs of the pods for which a pod's claim of a name is reserved; none if the pod has no such claim. */
  sharersOf(podUid: string, claim: string): readonly string[];
}

/** A slice and the order of its fact. If two slices name one device, the newer fact counts. */
export interface Slice {
  readonly order: OrderedFact;
  readonly body: ClusterFactBodies["ResourceSlice"];
}

const NONE: readonly ClaimedDevice[] = [];
/** Quantities have at most three decimal digits. */
const MILLI = 1000;

/** Creates an empty set of claims and slices. Both can arrive in any order. */
export function createClaims(): Claims {
  const claims = new Map<string, Claim>();
  const byPod = new Map<string, Set<string>>();
  const claimsByPool = new Map<string, Set<string>>();
  const slices = new Map<string, Slice>();
  const slicesByPool = new Map<string, Set<string>>();

  function find(driver: string, pool: string, name: string): SliceDevice | undefined {
    let newest: { readonly order: OrderedFact; readonly uid: string; readonly device: SliceDevice } | undefined;
    for (const uid of slicesByPool.get(`${driver}\n${pool}`) ?? []) {
      const { order, body } = slices.get(uid)!;
      const device = body.devices.find((one) => one.name === name);
      if (device === undefined) continue;
      const difference = newest === undefined ? 1 : compareFacts(order, newest.order) || (uid > newest.uid ? 1 : -1);
      if (difference > 0) newest = { order, uid, device };
    }
    return newest?.device;
  }

  /** Returns the number of partitions of a partition's GPU. */
  function partitionsBeside(driver: string, pool: string, { pciBusId }: SliceDevice): number {
    const devices = [...(slicesByPool.get(`${driver}\n${pool}`) ?? [])].flatMap((uid) => slices.get(uid)!.body.devices);
    const alike = devices.filter((device) => device.isPartition === true && device.pciBusId === pciBusId);
    return new Set(alike.map(({ name }) => name)).size;
  }

  return {
    putClaim(uid, claim) {
      const before = claims.get(uid);
      for (const pod of before?.body.reservedFor ?? []) unlink(byPod, pod, uid);
      for (const device of before?.body.devices ?? []) unlink(claimsByPool, poolOf(device), uid);
      if (claim === undefined) claims.delete(uid);
      else claims.set(uid, claim);
      for (const pod of claim?.body.reservedFor ?? []) link(byPod, pod, uid);
      for (const device of claim?.body.devices ?? []) link(claimsByPool, poolOf(device), uid);
      return reservedFor([before, claim]);
    },
    putSlice(uid, slice) {
      const before = slices.get(uid);
      if (before !== undefined) unlink(slicesByPool, poolOf(before.body), uid);
      if (slice === undefined) slices.delete(uid);
      else {
        slices.set(uid, slice);
        link(slicesByPool, poolOf(slice.body), uid);
      }
      const pools = [before, slice].flatMap((one) => (one === undefined ? [] : [poolOf(one.body)]));
      const concerned = pools.flatMap((pool) => [...(claimsByPool.get(pool) ?? [])]);
      return reservedFor(concerned.map((claim) => claims.get(claim)));
    },
    sharersOf(podUid, claim) {
      const reserved = [...(byPod.get(podUid) ?? [])].map((uid) => claims.get(uid)!);
      return reserved.find(({ name }) => name === claim)?.body.reservedFor ?? [];
    },
    of(podUid) {
      const reserved = byPod.get(podUid);
      if (reserved === undefined) return NONE;
      return [...reserved].sort().flatMap((uid) => {
        const { namespace, name, body } = claims.get(uid)!;
        return body.devices.map(({ driver, pool, device, consumed = {} }): ClaimedDevice => {
          const sliced = find(driver, pool, device);
          const { uuid, pciBusId, parentUuid, profile, capacity = {} } = sliced ?? {};
          const partitions = sliced?.isPartition === true ? partitionsBeside(driver, pool, sliced) : undefined;
          const largest = largestPart(consumed, capacity);
          return {
            namespace,
            claim: name,
            driver,
            pool,
            device,
            ...(uuid === undefined ? {} : { uuid }),
            ...(pciBusId === undefined ? {} : { pciBusId }),
            ...(parentUuid === undefined ? {} : { parentUuid }),
            ...(profile === undefined ? {} : { profile }),
            ...(largest === undefined ? {} : { consumed: largest }),
            ...(partitions === undefined ? {} : { partitions }),
          };
        });
      });
    },
  };
}

/** Returns the dimension of which the claim consumes the largest part; undefined if it consumes nothing. */
function largestPart(
  consumed: Readonly<Record<string, number>>,
  capacity: Readonly<Record<string, number>>,
): ClaimedDevice["consumed"] {
  const parts = Object.entries(consumed).flatMap(([dimension, amount]) => {
    const of = capacity[dimension];
    if (of === undefined) return [];
    const scale = Number.isInteger(amount) && Number.isInteger(of) ? 1 : MILLI;
    return [{ amount: Math.round(amount * scale), of: Math.round(of * scale) }];
  });
  return parts.toSorted((a, b) => b.amount / b.of - a.amount / a.of)[0];
}

function reservedFor(claims: readonly (Claim | undefined)[]): readonly string[] {
  return [...new Set(claims.flatMap((claim) => claim?.body.reservedFor ?? []))];
}

function poolOf({ driver, pool }: { readonly driver: string; readonly pool: string }): string {
  return `${driver}\n${pool}`;
}

function link(index: Map<string, Set<string>>, key: string, value: string): void {
  const values = index.get(key);
  if (values === undefined) index.set(key, new Set([value]));
  else values.add(value);
}

function unlink(index: Map<string, Set<string>>, key: string, value: string): void {
  const values = index.get(key);
  if (values?.delete(value) === true && values.size === 0) index.delete(key);
}
