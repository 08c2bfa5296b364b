import type { Device } from "../../../domain/device.ts";
import {
  holdsAt,
  isReservation,
  type ClaimedDevice,
  type Holding,
  type NodeHoldings,
} from "../../../domain/holding.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import { isSameProfile } from "../../../domain/mig-profile.ts";
import type { Held } from "../../../domain/share/claim.ts";
import type { DeviceEvidence } from "../../../domain/workload.ts";
import { readAllocations } from "../../../domain/attribution/allocated.ts";
import { isShared } from "../../../domain/attribution/kind.ts";
import { podsOnDevice } from "../../../domain/attribution/ladder.ts";
import type { Moment } from "../../../domain/attribution/moment.ts";
import type { Proofs } from "../../../domain/attribution/proofs.ts";
import { amountsOf, annotated, claimedPart, fractionOf, inMiB, instancePart, nameOf } from "./asked-part.ts";
import { isUnseen, openAsks, type OpenAsk } from "./common-holders.ts";
import type { NodeRecord } from "./node-record.ts";
import type { SlotHolder } from "./planned.ts";
import type { FilledSlot, SlotDevice } from "./slots.ts";

type Status = Extract<DeviceEvidence, { by: "status" }>;

/** The known holders of a node's devices, and the requests without evidence. */
export interface KnownHolders {
  readonly holders: readonly SlotHolder[];
  /** Requests of pods whose devices are unknown. */
  readonly open: readonly OpenAsk[];
}

/** Returns the key of a device within a node. */
export function deviceOf(slot: number, part: string): string {
  return `${slot}/${part}`;
}

/**
 * Returns the holders of each device of a node at a time, by the strongest available evidence ({@link podsOnDevice}, with the labels that
 * exporters showed at any time), then holders that are known only from samples.
 */
export function knownHolders(
  record: NodeRecord,
  slots: readonly FilledSlot[],
  gpus: readonly NodeGpus[],
  proofs: Proofs,
  at: number,
): KnownHolders {
  const pods = [...record.pods.values()]
    .filter(({ holding }) => holdsAt(holding, at))
    .map(({ holding }) => inMiB(holding, gpus));
  const node: NodeHoldings = { version: 0, pods, gpus, claimed: record.claimed };
  const devices = slots.flatMap((slot) => slot.devices);
  const allocations = readAllocations(
    devices.map(({ device }) => device),
    momentOfNode(record, node, at),
  );
  const sharing = isShared(gpus, undefined);
  const resolved = new Set(allocations.resolved);
  // The pod's evidence matches no device of the node. It is in a slot without a seen GPU if there is one; otherwise weaker evidence counts.
  const unseen = slots.some(isUnseen) ? allocations.elsewhere : new Set<string>();
  const found = devices.map((slotDevice, row) => {
    const proven = proofs
      .on(deviceOf(slotDevice.slot, slotDevice.part), pods)
      .filter((pod) => canHave(pod, slotDevice.device));
    const allocated = allocations.rows[row];
    const onDevice = podsOnDevice(allocated, proven, { pods, resolved: allocations.resolved });
    for (const { pod, evidence } of onDevice)
      if (allocated === undefined && evidence === "group") resolved.add(pod.uid);
    return onDevice;
  });
  const counts = new Map<string, number>();
  for (const each of found) for (const { pod } of each) counts.set(pod.uid, (counts.get(pod.uid) ?? 0) + 1);
  const given = new Map<string, number>();
  const holders = devices.flatMap((slotDevice, row): readonly SlotHolder[] => {
    const named = found[row]!.map(({ pod, evidence }): SlotHolder => {
      const nth = given.get(pod.uid) ?? 0;
      given.set(pod.uid, nth + 1);
      const held = heldOf(record, {
        pod,
        pods,
        gpus,
        slotDevice,
        isReplica: sharing,
        devices: counts.get(pod.uid)!,
        nth,
      });
      return { slot: slotDevice.slot, part: slotDevice.part, holder: { kind: "pod", uid: pod.uid }, held, evidence };
    });
    return named.length > 0 ? named : strangersOn(slots, slotDevice, at);
  });
  const isOpen = (pod: Holding): boolean =>
    !isReservation(pod) && !resolved.has(pod.uid) && (!sharing || !counts.has(pod.uid));
  const open = pods
    .filter(isOpen)
    .flatMap((pod) => {
      // If a label proved an instance that no longer exists, everything that was held of it has ended too.
      const found = Math.max(counts.get(pod.uid) ?? 0, proofs.devices(pod));
      return openAsks(record, { pod, pods, gpus, found, devices });
    })
    .map((ask): OpenAsk => ({ ...ask, isUnseen: unseen.has(ask.pod.uid) }));
  return { holders, open };
}

/**
 * Returns whether a pod can have a device. An instance's number can be reused: a label of the previous instance proves nothing for an
 * instance of another profile.
 */
function canHave({ asks }: Holding, { profile }: Device): boolean {
  const profiles = asks.flatMap((ask) => (ask.kind === "mig" ? [ask.profile] : []));
  return profile === undefined || profiles.length < asks.length || profiles.some((own) => isSameProfile(profile, own));
}

interface HeldAt {
  readonly pod: Holding;
  readonly pods: readonly Holding[];
  readonly gpus: readonly NodeGpus[];
  readonly slotDevice: SlotDevice;
  readonly isReplica: boolean;
  /** The number of the pod's devices, and the position of this device among them. */
  readonly devices: number;
  readonly nth: number;
}

/** Returns what a pod holds of a known device, by its requests. */
function heldOf(record: NodeRecord, { pod, pods, gpus, slotDevice, isReplica, devices, nth }: HeldAt): Held {
  const { part, device } = slotDevice;
  const claim = claimOn(record, pod, device);
  const claims = claim === undefined ? [] : pods.flatMap((each) => claimOn(record, each, device) ?? []);
  const name = claim === undefined ? "" : nameOf(claim);
  const sharers = claims.filter((each) => nameOf(each) === name).length;
  const reservedFor = sharers > 1 ? { reservedFor: sharers } : {};
  if (device.partition !== undefined) return { what: "partition", partition: part, ...reservedFor };
  const [ask] = pod.asks;
  if (isReplica && claim === undefined && (ask?.kind === "gpu" || ask?.kind === "mig")) {
    // Replicas on several devices are divided equally. The first devices have one more.
    const count = statusOf(pod, device)?.units ?? Math.floor(ask.count / devices) + (nth < ask.count % devices ? 1 : 0);
    return { what: "replicas", count: Math.max(1, count), ...(part === "" ? {} : { part }) };
  }
  if (device.instance !== undefined) return { what: "instance", instance: part, ...reservedFor };
  if (ask?.kind === "vgpu")
    return instancePart(pod, gpus) ?? { what: "vgpu", ...amountsOf(annotated(pod, device) ?? ask) };
  if (ask?.kind === "fraction") return fractionOf(ask);
  if (claim === undefined) return { what: "whole" };
  const others = new Map(claims.filter((each) => nameOf(each) !== name).map((each) => [nameOf(each), each]));
  return claimedPart(claim, { sharers, others: [...others.values()] });
}

/** Returns the pod's status entry of a GPU. */
function statusOf({ evidence }: Holding, { uuid, gpu, pciBusId }: Device): Status | undefined {
  return evidence.find((entry): entry is Status => {
    if (entry.by !== "status" || entry.instance !== undefined) return false;
    if (entry.uuid !== undefined) return entry.uuid === uuid;
    return entry.pciBusId === undefined ? String(entry.gpuIndex) === gpu : entry.pciBusId === pciBusId;
  });
}

/** Returns whether the status of a bound pod reports a GPU as unhealthy at a time. */
export function isUnhealthy({ pods }: NodeRecord, { devices }: FilledSlot, at: number): boolean {
  return [...pods.values()].some(({ holding }) => {
    if (!holdsAt(holding, at)) return false;
    const spells = devices.flatMap(({ device }) => statusOf(holding, device)?.unhealthy ?? []);
    return spells.some(({ from, until = Infinity }) => from <= at && at < until);
  });
}

/** Returns the device that a pod has through a claim. */
function claimOn(
  record: NodeRecord,
  { uid }: Pick<Holding, "uid">,
  { uuid, pciBusId }: Device,
): ClaimedDevice | undefined {
  return record
    .claimed(uid)
    .find(
      (one) =>
        (uuid !== undefined && (one.uuid === uuid || one.parentUuid === uuid)) ||
        (one.uuid === undefined && one.parentUuid === undefined && pciBusId !== undefined && one.pciBusId === pciBusId),
    );
}

function strangersOn(slots: readonly FilledSlot[], slotDevice: SlotDevice, at: number): readonly SlotHolder[] {
  const strangers = slots.find(({ slot }) => slot === slotDevice.slot)?.seen?.strangers ?? [];
  const here = strangers.filter(({ part, from, until }) => part === slotDevice.part && from <= at && at < until);
  return here.map(({ kind, namespace, name }): SlotHolder => {
    const held: Held =
      slotDevice.device.partition !== undefined
        ? { what: "partition", partition: slotDevice.part }
        : slotDevice.part === ""
          ? { what: "whole" }
          : { what: "instance", instance: slotDevice.part };
    const isJob = kind === "job";
    return {
      slot: slotDevice.slot,
      part: slotDevice.part,
      holder: { kind: isJob ? "job" : "stranger", namespace, name },
      held,
      evidence: isJob ? "hpc-job" : "label",
    };
  });
}

function momentOfNode({ node: name }: NodeRecord, node: NodeHoldings, at: number): Moment {
  const cluster = { version: 0, node: () => node, named: () => [], pod: () => undefined };
  return { millis: at, cluster, name, node, pods: node.pods, from: -Infinity, until: Infinity, beyond: false };
}
