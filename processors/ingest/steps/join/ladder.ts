import { gpuKey, type Device } from "../../../../domain/device.ts";
import { NO_HOLDER, type Evidence, type Holder } from "../../../../domain/holder.ts";
import { isReservation, type Holding } from "../../../../domain/holding.ts";
import { withShown } from "../../../../domain/node-gpus.ts";
import type { ScrapeShape } from "../../../../domain/scrape.ts";
import { readAllocations, type Allocated } from "../../../../domain/attribution/allocated.ts";
import { askedInAll, asksFor, deviceKey, hasPart, isShared, vendorOf } from "../../../../domain/attribution/kind.ts";
import { readLabel, type Label } from "./label.ts";
import type { Moment } from "../../../../domain/attribution/moment.ts";
import type { Proofs } from "../../../../domain/attribution/proofs.ts";

/** What the ladder needs of a shape and can remember as long as there are scrapes of it. */
export interface Layout {
  readonly devices: readonly Device[];
  readonly vendor: ReturnType<typeof vendorOf>;
  /** The device of each row. */
  readonly keys: readonly string[];
  /** Distinct GPUs. */
  readonly gpus: number;
  /** The rows whose device other rows speak of too. */
  readonly repeated: ReadonlySet<number>;
}

/** A row with all that speaks of it. */
interface Row {
  readonly device: Device;
  readonly key: string;
  readonly label: Label;
  readonly allocated: Allocated | undefined;
  /** Other rows of the scrape speak of the same device for other pods: each stands for its own. */
  readonly isOnePods: boolean;
}

/** Reads what stays the same for all scrapes of a shape. */
export function layoutOf({ devices, exporter }: ScrapeShape): Layout {
  const keys = devices.map(deviceKey);
  const firsts = new Map(keys.map((key, row) => [key, row] as const).toReversed());
  const again = keys.flatMap((key, row) => (firsts.get(key) === row ? [] : [key]));
  const repeated = new Set(keys.flatMap((key, row) => (again.includes(key) ? [row] : [])));
  const gpus = new Set(devices.map(gpuKey)).size;
  return { devices, vendor: vendorOf(exporter), keys, gpus, repeated };
}

/**
 * Who holds each row's device. The rungs, strongest first: what schedulers and drivers allocated, the labels of this
 * scrape, the labels of others, a job; whatever is still open is held in common by the pods of which nothing tells.
 */
export function climb(layout: Layout, moment: Moment, proofs: Proofs): readonly Holder[] {
  const { devices, vendor } = layout;
  const sharing = isShared(withShown(moment.node.gpus, layout.gpus), vendor);
  const allocations = readAllocations(devices, moment);
  const rows = readRows(layout, allocations.rows, moment);
  for (const { label, key, allocated } of rows) {
    if (label.says === "pod" && allocated === undefined && !isReservation(label.pod)) proofs.add(label.pod, key);
  }
  const holders = rows.map((row) => known(row, moment, { proofs, sharing, told: allocations.told }));
  if (holders.every((holder) => holder !== undefined)) return holders;

  const isOpen = (pod: Holding): boolean => {
    const asked = askedInAll(pod);
    // Replicas can be of one GPU, and a claim does not say how many it is for: one device that is proven tells all.
    return proofs.devices(pod) < (sharing || asked === Infinity ? Math.min(1, asked) : asked);
  };
  const { told, elsewhere } = allocations;
  // A device that is named, and is none of these, stands on another page.
  const open = moment.pods.filter((pod) => !told.has(pod.uid) && !elsewhere.has(pod.uid) && isOpen(pod));
  return holders.map((holder, row) => {
    if (holder !== undefined) return holder;
    const common = open.filter((pod) => asksFor(pod, devices[row]!, vendor, moment.node));
    return holderOf(common, "node") ?? NO_HOLDER;
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
    if (labels[row]!.says === "nobody") continue;
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

/** The holder of a row, unless nothing tells. */
function known(
  { device, key, label, allocated, isOnePods }: Row,
  moment: Moment,
  { proofs, sharing, told }: { readonly proofs: Proofs; readonly sharing: boolean; readonly told: ReadonlySet<string> },
): Holder | undefined {
  const own = label.says === "pod" && !proofs.isContradicted(label.pod) ? label.pod : undefined;
  const isStrangers = label.says === "stranger" && (allocated === undefined || isOnePods);
  if (allocated !== undefined && !isStrangers) {
    const isOwn = isOnePods && own !== undefined && allocated.pods.includes(own);
    // Who has a part by a label keeps it beside those whose parts were allocated.
    const beside = proofs.on(key, moment.pods).filter((pod) => hasPart(pod) && !told.has(pod.uid));
    return holderOf(isOwn ? [own] : [...allocated.pods, ...beside], allocated.evidence);
  }
  if (label.says === "stranger") {
    const { namespace, name, uid } = label;
    return { namespace, name, uid, evidence: "label", holders: 1 };
  }
  const isAlone = own !== undefined && (isOnePods || !sharing);
  if (own !== undefined && isReservation(own)) {
    const group = groupOf(own, moment.pods);
    if (group.length > 0) return holderOf(group, "group");
  } else if (isAlone) return holderOf([own], "label");

  const proven = proofs.on(key, moment.pods);
  // Of a GPU that nobody shares, the end of the one before is not known yet.
  const held = sharing || isOnePods ? proven : proven.toSorted((a, b) => b.from - a.from).slice(0, 1);
  if (held.length > 0) return holderOf(held, "label");
  if (device.hpcJob === undefined) return undefined;
  return { ...NO_HOLDER, name: device.hpcJob, evidence: "hpc-job", holders: 1 };
}

/** The pods that share the GPU of a reservation pod. */
function groupOf({ evidence }: Holding, pods: readonly Holding[]): readonly Holding[] {
  const groups = new Set(evidence.flatMap((said) => (said.by === "reservation" ? [said.group] : [])));
  return pods.filter((pod) => pod.evidence.some((said) => said.by === "group" && groups.has(said.group)));
}

/** A holder that stands for pods, which come by namespace and name; undefined for none. */
function holderOf(pods: readonly Holding[], evidence: Evidence): Holder | undefined {
  const [first] = pods;
  if (first === undefined) return undefined;
  const { namespace, name, uid } = first;
  return { namespace, name, uid, evidence, holders: pods.length };
}
