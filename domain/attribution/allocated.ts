import type { Device, DeviceClaim } from "../device.ts";
import type { Evidence } from "../holder.ts";
import type { ClaimedDevice, Holding } from "../holding.ts";
import { isSameProfile } from "../mig-profile.ts";
import { deviceKey, isInstanceOf } from "./kind.ts";
import type { Moment } from "./moment.ts";

/** The pods that have a row's device by the data of a scheduler or driver, sorted by namespace and name. */
export interface Allocated {
  readonly evidence: Extract<Evidence, "dra" | "status" | "annotation" | "group">;
  readonly pods: readonly Holding[];
}

/** The known fields of a device in an allocation. */
type Named = Partial<ClaimedDevice> & {
  readonly gpuIndex?: number;
  readonly instance?: number;
  readonly isInstance?: true;
  readonly memoryMiB?: number;
};

interface Allocation {
  readonly evidence: Allocated["evidence"];
  readonly pod: Holding;
  readonly named: Named;
}

/** The allocations by schedulers and drivers for a scrape's rows. */
export interface Allocations {
  /** One entry for each row. */
  readonly rows: readonly (Allocated | undefined)[];
  /** The UIDs of pods whose devices are all known. */
  readonly resolved: ReadonlySet<string>;
  /** The UIDs of pods with named devices that none of the rows shows. */
  readonly elsewhere: ReadonlySet<string>;
}

const STRENGTH: readonly Allocated["evidence"][] = ["dra", "status", "annotation", "group"];
const NONE: readonly Allocation[] = [];
const NOTHING: Allocations = { rows: [], resolved: new Set(), elsewhere: new Set() };

/**
 * Finds the rows of allocations: by the claim that a row's own labels name, otherwise by the device. An allocation can fit several devices
 * (MIG instances of one profile on one GPU). It counts only if the number of allocations equals the number of such devices: then each
 * allocation has one of them. Several pods may share a claim.
 */
export function readAllocations(devices: readonly Device[], moment: Moment): Allocations {
  const allocations = moment.pods.flatMap((pod) => allocationsOf(pod, moment));
  if (allocations.length === 0) return NOTHING;
  const found = devices.map(() => new Map<Allocated["evidence"], Set<Holding>>());
  const resolved = new Set<string>();
  const elsewhere = new Set<string>();
  const addTo = (row: number, { evidence, pod }: Allocation): void => {
    const pods = found[row]!.get(evidence);
    if (pods === undefined) found[row]!.set(evidence, new Set([pod]));
    else pods.add(pod);
  };

  const open = new Set(allocations);
  devices.forEach(({ claim }, row) => {
    const named = claim === undefined ? [] : allocations.filter((allocation) => isNamedBy(claim, allocation));
    for (const allocation of named) {
      addTo(row, allocation);
      resolved.add(allocation.pod.uid);
      // The label decides which of the equal instances it is, so the allocation is not matched with other rows.
      if (allocation.named.parentUuid !== undefined) open.delete(allocation);
    }
  });
  const unnamed = devices.flatMap((device, row) => (found[row]!.size === 0 ? [{ device, row }] : []));
  for (const alike of bySignature(open).values()) {
    const [{ named }] = alike as [Allocation];
    const rows = unnamed.filter(({ device }) => fits(device, named));
    const deviceCount = rows.length > 1 ? new Set(rows.map(({ device }) => deviceKey(device))).size : rows.length;
    if (deviceCount === 0 && namesDevice(named)) for (const { pod } of alike) elsewhere.add(pod.uid);
    if (deviceCount !== 1 && deviceCount !== devicesOf(alike)) continue;
    for (const allocation of alike) {
      resolved.add(allocation.pod.uid);
      for (const { row } of rows) addTo(row, allocation);
    }
  }
  // If a pod has several devices and some are on none of these rows, not all of its devices are known.
  for (const uid of elsewhere) resolved.delete(uid);
  return { rows: found.map((pods) => strongest(pods, moment.pods)), resolved, elsewhere };
}

/** Returns the number of devices of some allocations. A claim that several pods share counts as one device. */
function devicesOf(alike: readonly Allocation[]): number {
  return new Set(
    alike.map(({ named }, index) =>
      named.claim === undefined ? index : `${named.namespace}/${named.claim} ${named.device}`,
    ),
  ).size;
}

function allocationsOf(pod: Holding, moment: Moment): readonly Allocation[] {
  const claims = moment.node.claimed(pod.uid);
  if (claims.length === 0 && pod.evidence.length === 0) return NONE;
  const claimed = claims.map((named): Allocation => ({ evidence: "dra", pod, named }));
  const written = pod.evidence.flatMap((entry): readonly Allocation[] => {
    if (entry.by === "annotation" || entry.by === "status") return [{ evidence: entry.by, pod, named: entry }];
    if (entry.by !== "group") return [];
    return moment.pods.flatMap(({ evidence }) =>
      evidence.flatMap((one): readonly Allocation[] =>
        one.by === "reservation" && one.group === entry.group ? [{ evidence: "group", pod, named: one }] : [],
      ),
    );
  });
  return [...claimed, ...written];
}

/** Returns whether a row's labels name the claim, the device or the instance of an allocation. */
function isNamedBy(claim: DeviceClaim, { evidence, named }: Allocation): boolean {
  if (evidence !== "dra") return false;
  if (claim.migUuid !== undefined && claim.migUuid === named.uuid) return true;
  if (claim.device !== undefined && claim.device !== named.device) return false;
  if (claim.name !== undefined) return claim.name === named.claim && claim.namespace === named.namespace;
  return claim.device !== undefined && claim.driver === named.driver && claim.pool === named.pool;
}

/** Groups allocations by signature. Allocations of one signature fit the same rows. */
function bySignature(allocations: Iterable<Allocation>): ReadonlyMap<string, readonly Allocation[]> {
  const groups = new Map<string, Allocation[]>();
  for (const allocation of allocations) {
    const { uuid, pciBusId, parentUuid, profile, driver, pool, device, isInstance, memoryMiB, gpuIndex, instance } =
      allocation.named;
    const named =
      uuid ?? pciBusId ?? (gpuIndex === undefined ? `${driver}/${pool}/${device}` : `${gpuIndex}/${instance}`);
    const whole = isInstance === true ? `${named} ${memoryMiB}` : named;
    const key = `${allocation.evidence} ${parentUuid === undefined ? whole : `${parentUuid} ${profile}`}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [allocation]);
    else group.push(allocation);
  }
  return groups;
}

/** Returns whether an allocation names its device. */
function namesDevice({ uuid, pciBusId, parentUuid, gpuIndex }: Named): boolean {
  return uuid !== undefined || pciBusId !== undefined || parentUuid !== undefined || gpuIndex !== undefined;
}

function fits(row: Device, named: Named): boolean {
  const { uuid, parentUuid, profile, pciBusId, gpuIndex, instance } = named;
  const isWhole = row.instance === undefined;
  if (named.isInstance === true) return isInstanceOf(row, named);
  if (parentUuid !== undefined) {
    const own = row.profile ?? row.claim?.migProfile;
    return row.uuid === parentUuid && !isWhole && own !== undefined && isSameProfile(own, profile ?? "");
  }
  if (uuid === undefined && gpuIndex !== undefined)
    return row.gpu === String(gpuIndex) && (instance === undefined ? isWhole : row.instance === String(instance));
  if (uuid === undefined) return isWhole && pciBusId !== undefined && isSameAddress(row.pciBusId, pciBusId);
  if (uuid === row.claim?.migUuid || (uuid === row.uuid && isWhole)) return true;
  return instance !== undefined && row.instance === String(instance) && row.gpu === String(gpuIndex);
}

/** Compares PCI addresses. NVIDIA writes the domain with eight digits, the kernel with four. */
function isSameAddress(one: string | undefined, other: string): boolean {
  return one?.toLowerCase().slice(-12) === other.toLowerCase().slice(-12);
}

function strongest(
  found: ReadonlyMap<Allocated["evidence"], ReadonlySet<Holding>>,
  inOrder: readonly Holding[],
): Allocated | undefined {
  for (const evidence of STRENGTH) {
    const pods = found.get(evidence);
    if (pods !== undefined) return { evidence, pods: inOrder.filter((pod) => pods.has(pod)) };
  }
  return undefined;
}
