import type { Device } from "../../../domain/device.ts";
import type { Evidence } from "../../../domain/holder.ts";
import { holdsAt, isReservation, type Holding, type NodeHoldings } from "../../../domain/holding.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import type { Held } from "../../../domain/share/claim.ts";
import { heldInCommon, type CommonDevice, type CommonHolder } from "../../../domain/share/common.ts";
import type { VgpuAmounts } from "../../../domain/share/vgpu.ts";
import type { GpuAsk } from "../../../domain/workload.ts";
import { readAllocations } from "../../steps/join/allocated.ts";
import { askedInAll, asksFor, isShared } from "../../steps/join/kind.ts";
import type { Moment } from "../../steps/join/moment.ts";
import type { Proofs } from "../../steps/join/proofs.ts";
import type { NodeRecord } from "./node-record.ts";
import type { PlannedHolder } from "./planned.ts";
import type { FilledSlot, SlotDevice } from "./slots.ts";

/** Somebody who has something of a slot at a moment. */
export interface SlotHolder {
  readonly slot: number;
  /** The instance or partition; empty for the GPU itself. */
  readonly part: string;
  readonly holder: PlannedHolder;
  readonly held: Held;
  readonly evidence: Evidence;
}

/** Who is known to have which devices of a node, and of whom nothing tells. */
export interface KnownHolders {
  readonly holders: readonly SlotHolder[];
  /** Pods that have devices which nothing tells, with how many of each ask are still open. */
  readonly open: readonly { readonly pod: Holding; readonly ask: GpuAsk; readonly count: number }[];
}

/** What tells a device of a node from another. */
export function deviceOf(slot: number, part: string): string {
  return `${slot}/${part}`;
}

/**
 * Who holds each device of a node at a time, by the strongest evidence that there is: what schedulers and drivers allocated,
 * what the exporter's labels proved at any time, and those of whom samples alone tell. It is the join's ladder
 * (`processors/steps/join`), with all that is known afterwards.
 */
export function knownHolders(
  record: NodeRecord,
  slots: readonly FilledSlot[],
  gpus: readonly NodeGpus[],
  proofs: Proofs,
  at: number,
): KnownHolders {
  const pods = [...record.pods.values()].map(({ holding }) => holding).filter((pod) => holdsAt(pod, at));
  const node: NodeHoldings = { version: 0, pods, gpus, claimed: record.claimed };
  const devices = slots.flatMap((slot) => slot.devices);
  const allocations = readAllocations(
    devices.map(({ device }) => device),
    momentOfNode(record, node, at),
  );
  const sharing = isShared(node, undefined);
  const told = new Set(allocations.told);
  const found = devices.map((place, row): readonly { pod: Holding; evidence: Evidence }[] => {
    const allocated = allocations.rows[row];
    if (allocated !== undefined) return allocated.pods.map((pod) => ({ pod, evidence: allocated.evidence }));
    const proven = proofs.on(deviceOf(place.slot, place.part), pods);
    return proven.flatMap((pod): readonly { pod: Holding; evidence: Evidence }[] => {
      if (!isReservation(pod)) return [{ pod, evidence: "label" }];
      const group = groupOf(pod, pods);
      for (const { uid } of group) told.add(uid);
      return group.map((member) => ({ pod: member, evidence: "group" }));
    });
  });
  const counts = new Map<string, number>();
  for (const each of found) for (const { pod } of each) counts.set(pod.uid, (counts.get(pod.uid) ?? 0) + 1);
  const given = new Map<string, number>();
  const holders = devices.flatMap((place, row): readonly SlotHolder[] => {
    const named = found[row]!.map(({ pod, evidence }): SlotHolder => {
      const nth = given.get(pod.uid) ?? 0;
      given.set(pod.uid, nth + 1);
      const held = heldOf(record, { pod, pods, place, isReplica: sharing, devices: counts.get(pod.uid)!, nth });
      return { slot: place.slot, part: place.part, holder: { kind: "pod", uid: pod.uid }, held, evidence };
    });
    return named.length > 0 ? named : strangersOn(slots, place, at);
  });
  const isOpen = (pod: Holding): boolean =>
    !isReservation(pod) && !told.has(pod.uid) && (!sharing || !counts.has(pod.uid));
  const open = pods.filter(isOpen).flatMap((pod) => openAsks(pod, counts.get(pod.uid) ?? 0));
  return { holders, open };
}

/** What of a pod's asks nothing tells: a claim of which nothing is known is for one device at least. */
function openAsks(pod: Holding, found: number): KnownHolders["open"] {
  let known = found;
  return pod.asks.flatMap((ask) => {
    const asked = ask.kind === "claim" ? Math.min(1, askedInAll(pod)) : ask.count;
    const count = Math.max(0, asked - known);
    known = Math.max(0, known - asked);
    return count === 0 ? [] : [{ pod, ask, count }];
  });
}

/** Holders of a node's devices in common, one set for each kind of device that is asked for. */
export function commonHolders(
  record: NodeRecord,
  slots: readonly FilledSlot[],
  gpus: readonly NodeGpus[],
  { holders, open }: KnownHolders,
  unavailable: ReadonlyMap<number, string>,
): readonly SlotHolder[] {
  const node: NodeHoldings = { version: 0, pods: [], gpus, claimed: record.claimed };
  const kinds = new Map<string, { readonly pod: Holding; readonly ask: GpuAsk; readonly count: number }[]>();
  for (const each of open) kinds.set(kindOf(each.ask), [...(kinds.get(kindOf(each.ask)) ?? []), each]);
  return [...kinds.values()].flatMap((alike) => {
    const [{ pod, ask }] = alike as [(typeof alike)[number]];
    const fitting = slots.flatMap((slot) =>
      slot.devices
        .filter(({ device }) => asksFor({ ...pod, asks: [ask] }, device, undefined, node))
        .map((place) => commonDevice(slot, place, holders, unavailable.has(slot.slot))),
    );
    const { claims } = heldInCommon(fitting, mergeHolders(alike));
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

function mergeHolders(alike: KnownHolders["open"]): readonly CommonHolder[] {
  const counts = new Map<string, number>();
  for (const { pod, count } of alike) counts.set(pod.uid, (counts.get(pod.uid) ?? 0) + count);
  return [...counts].map(([holder, count]) => ({ holder, count }));
}

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

/** Asks of one kind fit the same devices. */
function kindOf(ask: GpuAsk): string {
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

interface HeldAt {
  readonly pod: Holding;
  readonly pods: readonly Holding[];
  readonly place: SlotDevice;
  readonly isReplica: boolean;
  /** How many devices the pod has in all, and which of them this is. */
  readonly devices: number;
  readonly nth: number;
}

/** What a pod has of a device that it is known to have, by what it asked for. */
function heldOf(record: NodeRecord, { pod, pods, place, isReplica, devices, nth }: HeldAt): Held {
  const { part, device } = place;
  const claim = claimOn(record, pod, device);
  const sharers = claim === undefined ? 1 : pods.filter(({ uid }) => claimOn(record, { uid }, device) === claim).length;
  const reservedFor = sharers > 1 ? { reservedFor: sharers } : {};
  if (device.partition !== undefined) return { what: "partition", partition: part, ...reservedFor };
  const [ask] = pod.asks;
  if (isReplica && claim === undefined && (ask?.kind === "gpu" || ask?.kind === "mig")) {
    // Replicas on several devices: as many on each, the first ones one more.
    const count = Math.floor(ask.count / devices) + (nth < ask.count % devices ? 1 : 0);
    return { what: "replicas", count: Math.max(1, count), ...(part === "" ? {} : { part }) };
  }
  if (device.instance !== undefined) return { what: "instance", instance: part, ...reservedFor };
  if (ask?.kind === "vgpu") return { what: "vgpu", ...amountsOf(annotated(pod, device) ?? ask) };
  if (ask?.kind === "fraction") {
    const { ppm, memoryMiB } = ask;
    return {
      what: "fraction",
      ...(ppm === undefined ? {} : { ppm }),
      ...(memoryMiB === undefined ? {} : { memoryMiB }),
    };
  }
  return { what: "whole", ...reservedFor };
}

/** 0 is as good as unset, as both schedulers have it. */
function amountsOf({ memoryMiB = 0, memoryPercent = 0, coresPercent = 0 }: VgpuAmounts): VgpuAmounts {
  return {
    ...(memoryMiB === 0 ? {} : { memoryMiB }),
    ...(memoryPercent === 0 ? {} : { memoryPercent }),
    ...(coresPercent === 0 ? {} : { coresPercent }),
  };
}

/** What a scheduler wrote that a pod has of a GPU, over all its containers. */
function annotated(pod: Holding, { uuid }: Device): VgpuAmounts | undefined {
  const entries = pod.evidence.flatMap((said) => (said.by === "annotation" && said.uuid === uuid ? [said] : []));
  if (entries.length === 0) return undefined;
  return {
    memoryMiB: entries.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0),
    coresPercent: entries.reduce((sum, { coresPercent }) => sum + coresPercent, 0),
  };
}

/** The claim through which a pod has a device, by namespace and name. */
function claimOn(record: NodeRecord, { uid }: Pick<Holding, "uid">, { uuid, pciBusId }: Device): string | undefined {
  const claim = record
    .claimed(uid)
    .find(
      (one) =>
        (uuid !== undefined && (one.uuid === uuid || one.parentUuid === uuid)) ||
        (one.uuid === undefined && one.parentUuid === undefined && pciBusId !== undefined && one.pciBusId === pciBusId),
    );
  return claim === undefined ? undefined : `${claim.namespace}/${claim.claim}`;
}

function strangersOn(slots: readonly FilledSlot[], place: SlotDevice, at: number): readonly SlotHolder[] {
  const strangers = slots.find(({ slot }) => slot === place.slot)?.seen?.strangers ?? [];
  const here = strangers.filter(({ part, from, until }) => part === place.part && from <= at && at < until);
  return here.map(({ kind, namespace, name }): SlotHolder => {
    const held: Held =
      place.device.partition !== undefined
        ? { what: "partition", partition: place.part }
        : place.part === ""
          ? { what: "whole" }
          : { what: "instance", instance: place.part };
    const isJob = kind === "job";
    return {
      slot: place.slot,
      part: place.part,
      holder: { kind: isJob ? "job" : "stranger", namespace, name },
      held,
      evidence: isJob ? "hpc-job" : "label",
    };
  });
}

/** The pods that share the GPU of a reservation pod. */
function groupOf({ evidence }: Holding, pods: readonly Holding[]): readonly Holding[] {
  const groups = new Set(evidence.flatMap((said) => (said.by === "reservation" ? [said.group] : [])));
  return pods.filter((pod) => pod.evidence.some((said) => said.by === "group" && groups.has(said.group)));
}

function momentOfNode({ node: name }: NodeRecord, node: NodeHoldings, at: number): Moment {
  const cluster = { version: 0, node: () => node, named: () => [], pod: () => undefined };
  return { millis: at, cluster, name, node, pods: node.pods, from: -Infinity, until: Infinity, beyond: false };
}
