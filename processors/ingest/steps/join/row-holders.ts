import { gpuKey, type Device } from "../../../../domain/device.ts";
import { NO_HOLDER, type Holder } from "../../../../domain/holder.ts";
import { isReservation, type Holding } from "../../../../domain/holding.ts";
import { withShown } from "../../../../domain/share/node-gpus.ts";
import type { ScrapeShape } from "../../../../domain/scrape.ts";
import { readAllocations, type Allocated } from "../../../../domain/attribution/allocated.ts";
import { askedInAll, asksFor, deviceKey, isShared, vendorOf } from "../../../../domain/attribution/kind.ts";
import { podsOnDevice, type PodOnDevice } from "../../../../domain/attribution/ladder.ts";
import { readLabel, type Label } from "./label.ts";
import type { Moment } from "../../../../domain/attribution/moment.ts";
import type { Proofs } from "../../../../domain/attribution/proofs.ts";

/** The data that the ladder needs of a shape. It is cached as long as scrapes of the shape arrive. */
export interface Layout {
  readonly devices: readonly Device[];
  readonly vendor: ReturnType<typeof vendorOf>;
  /** The device key of each row. */
  readonly keys: readonly string[];
  /** The number of distinct GPUs. */
  readonly gpus: number;
  /** The rows whose device also has other rows. */
  readonly repeated: ReadonlySet<number>;
}

/** A row with all of its evidence. */
interface Row {
  readonly device: Device;
  readonly key: string;
  readonly label: Label;
  readonly allocated: Allocated | undefined;
  /** The device has other rows for other pods. Each row stands for its own pod. */
  readonly isOnePods: boolean;
}

/** Computes the data that stays the same for all scrapes of a shape. */
export function layoutOf({ devices, exporter }: ScrapeShape): Layout {
  const keys = devices.map(deviceKey);
  const firsts = new Map(keys.map((key, row) => [key, row] as const).toReversed());
  const again = keys.flatMap((key, row) => (firsts.get(key) === row ? [] : [key]));
  const repeated = new Set(keys.flatMap((key, row) => (again.includes(key) ? [row] : [])));
  const gpus = new Set(devices.map(gpuKey)).size;
  return { devices, vendor: vendorOf(exporter), keys, gpus, repeated };
}

/**
 * Returns the holder of each row's device. The evidence, strongest first: {@link podsOnDevice} with the label of this scrape, else with the
 * labels of other scrapes, then a job. The remaining devices are held in common by the pods without evidence.
 */
export function rowHolders(layout: Layout, moment: Moment, proofs: Proofs): readonly Holder[] {
  const { devices, vendor } = layout;
  const sharing = isShared(withShown(moment.node.gpus, layout.gpus), vendor);
  const allocations = readAllocations(devices, moment);
  const rows = readRows(layout, allocations.rows, moment);
  for (const { label, key, allocated } of rows) {
    if (label.kind === "pod" && allocated === undefined && !isReservation(label.pod)) proofs.add(label.pod, key);
  }
  const holders = rows.map((row) => known(row, moment, { proofs, sharing, resolved: allocations.resolved }));
  if (holders.every((holder) => holder !== undefined)) return holders;

  const isOpen = (pod: Holding): boolean => {
    const asked = askedInAll(pod);
    // Replicas can be of one GPU, and a claim does not contain its number of devices, so one proven device is enough.
    return proofs.devices(pod) < (sharing || asked === Infinity ? Math.min(1, asked) : asked);
  };
  const { resolved, elsewhere } = allocations;
  // A named device that is not among these rows is on another page.
  const open = moment.pods.filter((pod) => !resolved.has(pod.uid) && !elsewhere.has(pod.uid) && isOpen(pod));
  return holders.map((holder, row) => {
    if (holder !== undefined) return holder;
    const common = open.filter((pod) => asksFor(pod, devices[row]!, vendor, moment.node));
    return holderOf(common.map((pod) => ({ pod, evidence: "node" }))) ?? NO_HOLDER;
  });
}

function readRows(
  { devices, keys, repeated }: Layout,
  allocated: readonly (Allocated | undefined)[],
  moment: Moment,
): readonly Row[] {
  const labels = devices.map((device) => readLabel(device, moment));
  const pods = new Map<string, Set<string>>();
  for (const row of repeated) {
    if (labels[row]!.kind === "nobody") continue;
    const { namespace, pod } = devices[row]!;
    const named = pods.get(keys[row]!) ?? new Set();
    pods.set(keys[row]!, named.add(`${namespace}/${pod}`));
  }
  return devices.map((device, row) => ({
    device,
    key: keys[row]!,
    label: labels[row]!,
    allocated: allocated[row],
    isOnePods: repeated.has(row) && (pods.get(keys[row]!)?.size ?? 0) > 1,
  }));
}

/** Returns the holder of a row; undefined if there is no evidence. */
function known(
  { device, key, label, allocated, isOnePods }: Row,
  moment: Moment,
  {
    proofs,
    sharing,
    resolved,
  }: { readonly proofs: Proofs; readonly sharing: boolean; readonly resolved: ReadonlySet<string> },
): Holder | undefined {
  const own = label.kind === "pod" && !proofs.isContradicted(label.pod) ? label.pod : undefined;
  const onDevice = (labels: readonly Holding[]): Holder | undefined =>
    holderOf(podsOnDevice(allocated, labels, { pods: moment.pods, resolved }));
  const isStrangers = label.kind === "stranger" && (allocated === undefined || isOnePods);
  if (allocated !== undefined && !isStrangers) {
    const isOwn = isOnePods && own !== undefined && allocated.pods.includes(own);
    return isOwn ? holderOf([{ pod: own, evidence: allocated.evidence }]) : onDevice(proofs.on(key, moment.pods));
  }
  if (label.kind === "stranger") {
    const { namespace, name, uid } = label;
    return { namespace, name, uid, evidence: "label", holders: 1 };
  }
  const isProven = own !== undefined && (isReservation(own) || isOnePods || !sharing);
  const labelled = isProven ? onDevice([own]) : undefined;
  if (labelled !== undefined) return labelled;
  const proven = proofs.on(key, moment.pods);
  // For an unshared GPU, the latest proven pod counts: the end of the pod before it is not known yet.
  const held = sharing || isOnePods ? proven : proven.toSorted((a, b) => b.from - a.from).slice(0, 1);
  const named = onDevice(held);
  if (named !== undefined || device.hpcJob === undefined) return named;
  return { ...NO_HOLDER, name: device.hpcJob, evidence: "hpc-job", holders: 1 };
}

/** Returns a holder that stands for pods, which are sorted by namespace and name; undefined if there are none. */
function holderOf(pods: readonly PodOnDevice[]): Holder | undefined {
  const [first] = pods;
  if (first === undefined) return undefined;
  const { namespace, name, uid } = first.pod;
  return { namespace, name, uid, evidence: first.evidence, holders: pods.length };
}
