import type { Holding, NodeHoldings } from "../../../domain/holding.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import type { PartOfDevice } from "../../../domain/share/claim.ts";
import { heldInCommon, type CommonDevice, type CommonHolder } from "../../../domain/share/common.ts";
import type { VgpuAmounts } from "../../../domain/share/vgpu.ts";
import type { GpuAsk } from "../../../domain/workload.ts";
import { askedInAll, asksFor, givenInstance, isInstanceOf } from "../../../domain/attribution/kind.ts";
import { amountsOf, annotated, claimedPart, fractionOf, instancePart, nameOf } from "./asked-part.ts";
import type { NodeRecord } from "./node-record.ts";
import type { SlotHolder } from "./planned.ts";
import { isUnseenPart, type FilledSlot, type SlotDevice } from "./slots.ts";

/** A request, and the number of its devices that are unknown. */
export interface OpenAsk {
  readonly pod: Holding;
  readonly ask: GpuAsk;
  readonly count: number;
  /** The pod's part of each device; the whole device if absent. */
  readonly each?: PartOfDevice;
  /** The devices are named and are not among the seen GPUs, so they are in the slots without a seen GPU. */
  readonly isUnseen: boolean;
}

/** A pod whose devices are being searched. */
export interface Asking {
  readonly pod: Holding;
  /** All pods that hold a part of the node at the time. */
  readonly pods: readonly Holding[];
  readonly gpus: readonly NodeGpus[];
  /** The number of the pod's known devices. */
  readonly found: number;
  readonly devices: readonly SlotDevice[];
}

/** Returns the part of a pod's requests without evidence. An unknown claim is for at least one device. */
export function openAsks(record: NodeRecord, of: Asking): readonly Omit<OpenAsk, "isUnseen">[] {
  const { pod, found } = of;
  const named = new Set(pod.evidence.flatMap((entry) => (entry.by === "annotation" ? [entry.uuid] : [])));
  const [first] = pod.asks;
  // Containers that share a GPU request it once each. The scheduler's annotation has the number of GPUs.
  if (first?.kind === "vgpu" && named.size > 0 && givenInstance(pod) === undefined) {
    const count = Math.max(0, named.size - found);
    return count === 0 ? [] : [{ pod, count, ...openPart(record, of, first) }];
  }
  let known = found;
  return pod.asks.flatMap((asked) => {
    const most = asked.kind === "claim" ? Math.min(1, askedInAll(pod)) : asked.count;
    const count = Math.max(0, most - known);
    known = Math.max(0, known - most);
    return count === 0 ? [] : [{ pod, count, ...openPart(record, of, asked) }];
  });
}

/** Returns a pod's part of each device of a request, wherever the device is. For an allocated claim, it also gives the kind of device. */
function openPart(
  record: NodeRecord,
  { pod, pods, gpus, devices }: Asking,
  ask: GpuAsk,
): Pick<OpenAsk, "ask" | "each"> {
  if (ask.kind === "vgpu") {
    const instance = givenInstance(pod);
    if (instance !== undefined && devices.some((slotDevice) => isInstanceOf(slotDevice.device, instance)))
      return { ask };
    const part = instancePart(pod, gpus);
    if (part !== undefined) return { ask, each: part };
    const named = pod.evidence.find((entry) => entry.by === "annotation");
    const amounts = named === undefined ? undefined : annotated(pod, named);
    return { ask, each: { what: "vgpu", ...amountsOf(amounts ?? ask) } };
  }
  if (ask.kind === "fraction") return { ask, each: fractionOf(ask) };
  const [device] = ask.kind === "claim" ? record.claimed(pod.uid) : [];
  if (device === undefined) return { ask };
  const claim = nameOf(device);
  const sharers = pods.filter(({ uid }) => record.claimed(uid).some((one) => nameOf(one) === claim)).length;
  const { profile, consumed, partitions } = device;
  const isPart = consumed !== undefined || (partitions !== undefined && devices.every((one) => one.part === ""));
  return {
    ask: profile === undefined ? ask : { kind: "mig", resource: "", profile, count: 1 },
    ...(sharers > 1 || isPart ? { each: claimedPart(device, { sharers, others: [] }) } : {}),
  };
}

/** Returns whether no sample ever showed the GPU of a slot. */
export function isUnseen({ devices }: Pick<FilledSlot, "devices">): boolean {
  return devices.every(({ device }) => device.uuid === undefined);
}

/** Returns the holders of a node's devices in common, with one set for each requested kind of device. */
export function commonHolders(
  record: NodeRecord,
  slots: readonly FilledSlot[],
  gpus: readonly NodeGpus[],
  { holders, open }: { readonly holders: readonly SlotHolder[]; readonly open: readonly OpenAsk[] },
  unavailable: ReadonlyMap<number, string>,
): readonly SlotHolder[] {
  const node: NodeHoldings = { version: 0, pods: [], gpus, claimed: record.claimed };
  const kinds = new Map<string, OpenAsk[]>();
  for (const each of open) {
    const kind = `${kindOf(each)} ${each.isUnseen}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), each]);
  }
  return [...kinds.values()].flatMap((alike) => {
    const [{ pod, ask, isUnseen: areUnseen }] = alike as [OpenAsk];
    const areParts = ask.kind === "vgpu" || ask.kind === "fraction";
    const fitting = slots
      .filter((slot) => !areUnseen || isUnseen(slot))
      // Parts can add up to more than the existing GPUs. Then all are scaled, and an absent GPU takes none.
      .filter(({ slot }) => !areParts || unavailable.get(slot) !== "absent")
      .flatMap((slot) =>
        slot.devices
          .filter(({ device }) => asksFor({ ...pod, asks: [ask] }, device, undefined, node))
          .map((slotDevice) => commonDevice(slot, slotDevice, holders, unavailable.has(slot.slot))),
      );
    const merged = mergeHolders(alike);
    const certain = inUnseenParts(fitting, merged);
    if (certain !== undefined) return certain;
    const { claims } = heldInCommon(fitting, merged);
    return [...claims].flatMap(([slot, ofSlot]) =>
      ofSlot.map(({ holder, held }): SlotHolder => ({
        slot: Number(slot),
        part: held.what === "common" ? (held.part ?? "") : "",
        holder: { kind: "pod", uid: holder },
        held,
        evidence: "node",
      })),
    );
  });
}

/**
 * Returns the holders of instances that no sample shows, if there is exactly one for each: nothing distinguishes these instances, so the holders
 * have them in the order of their pods. Undefined in any other case.
 */
function inUnseenParts(
  devices: readonly CommonDevice[],
  holders: readonly CommonHolder[],
): readonly SlotHolder[] | undefined {
  const isFree = ({ part, taken }: CommonDevice): boolean => part !== undefined && isUnseenPart(part) && taken === 0;
  const isOfOne = ({ count, each }: CommonHolder): boolean => count === 1 && each === undefined;
  const free = devices.filter(({ taken, members }) => taken < members);
  if (free.length !== holders.length || !free.every(isFree) || !holders.every(isOfOne)) return undefined;
  return holders.map(({ holder }, index): SlotHolder => {
    const { gpu, part = "" } = free[index]!;
    const held = { what: "instance", instance: part } as const;
    return { slot: Number(gpu), part, holder: { kind: "pod", uid: holder }, held, evidence: "node" };
  });
}

function mergeHolders(alike: readonly OpenAsk[]): readonly CommonHolder[] {
  const holders = new Map<string, CommonHolder>();
  for (const { pod, count, each } of alike) {
    const before = holders.get(pod.uid);
    const part = before === undefined ? each : meanPart(before, { count, each });
    const all = (before?.count ?? 0) + count;
    holders.set(pod.uid, { holder: pod.uid, count: all, ...(part === undefined ? {} : { each: part }) });
  }
  return [...holders.values()];
}

type Parts = { readonly count: number; readonly each?: PartOfDevice | undefined };

/** Returns the mean of the parts of devices that two requests of a pod are for; the later one if their measures differ. */
function meanPart(one: Parts, other: Parts): PartOfDevice | undefined {
  const [a, b] = [one.each, other.each];
  if (a?.what !== "vgpu" || b?.what !== "vgpu") return b;
  const mean = (measure: keyof VgpuAmounts): number =>
    ((a[measure] ?? 0) * one.count + (b[measure] ?? 0) * other.count) / (one.count + other.count);
  const isAlike = MEASURES.every((measure) => (a[measure] === undefined) === (b[measure] === undefined));
  const means = Object.fromEntries(MEASURES.map((measure) => [measure, mean(measure)]));
  return isAlike && Object.values(means).every(Number.isInteger) ? { what: "vgpu", ...amountsOf(means) } : b;
}

const MEASURES = ["memoryMiB", "memoryPercent", "coresPercent"] as const;

function commonDevice(
  { gpu: { layout } }: FilledSlot,
  { slot, part }: SlotDevice,
  holders: readonly SlotHolder[],
  isUnavailable: boolean,
): CommonDevice {
  const members = replicasOf(layout, part);
  const here = holders.filter((one) => one.slot === slot && one.part === part);
  const taken = here.reduce((sum, { held }) => sum + (held.what === "replicas" ? held.count : members), 0);
  return {
    gpu: String(slot),
    ...(part === "" ? {} : { part }),
    members,
    taken: Math.min(members, taken),
    isUnavailable,
  };
}

function replicasOf(layout: FilledSlot["gpu"]["layout"], part: string): number {
  if (layout.kind === "shared") return layout.replicas;
  if (layout.kind !== "mig") return 1;
  return layout.instances.find(({ id }) => id === part)?.replicas ?? 1;
}

/** Returns the kind of a request. Requests of one kind fit the same devices. */
function kindOf({ ask, pod }: OpenAsk): string {
  const instance = givenInstance(pod);
  if (ask.kind === "vgpu" && instance !== undefined) return `${instance.uuid} ${instance.memoryMiB}`;
  switch (ask.kind) {
    case "gpu":
      return ask.resource;
    case "mig":
      return `mig ${ask.profile}`;
    case "vgpu":
    case "fraction":
    case "claim":
      return "nvidia.com/gpu";
  }
}
