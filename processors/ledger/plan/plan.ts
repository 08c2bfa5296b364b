import type { Holding } from "../../../domain/holding.ts";
import { createProofs, type Proofs } from "../../steps/join/proofs.ts";
import { HOUR_MILLIS } from "../../rollup/window.ts";
import { conditionAt, conditionEdges, stateAt, unavailableAt, type SlotAt } from "./condition.ts";
import { commonHolders, deviceOf, knownHolders, type KnownHolders, type SlotHolder } from "./ladder.ts";
import type { Machine, MachineState, NodeRecord, ProvenLabel, SeenFault, Span } from "./node-record.ts";
import type { PlannedClaim, PlannedSegment } from "./planned.ts";
import { fillSlot, seenIn, type FilledSlot } from "./slots.ts";

/** What the configuration knows of dates and machines: where segments are cut besides. */
export interface KnownDates {
  /** When the price of a machine in a state changes, within a window. */
  ofMachine(state: MachineState, window: Span): readonly number[];
  /** When rules change that say who owns what. */
  readonly ofOwners: readonly number[];
  /** How many GPUs the machine was delivered with, where the price book or the node says so. */
  delivered(state: MachineState): number | undefined;
}

/** Without Kubernetes a slot ends after so long without a sample. */
export const ABSENT_AFTER_MILLIS = 24 * HOUR_MILLIS;

/**
 * What each slot of a node was over a window, cut where anything that is known of it changes: pure, and the same from the same
 * record. Nothing is measured yet. It looks `reachMillis` further back, as a sample of then can speak for the window's
 * beginning, for those who held by then.
 */
export function planNode(
  record: NodeRecord,
  window: Span,
  reachMillis: number,
  dates: KnownDates,
): readonly PlannedSegment[] {
  const looked = { from: window.from - reachMillis, until: window.until };
  const proofs = proofsOf(record);
  const edges = edgesOf(record, looked, dates);
  const open = new Map<number, Open>();
  const segments: PlannedSegment[] = [];
  const close = (ended: Open, until: number): void => {
    const { from, key: _, ...segment } = ended;
    if (until > window.from) segments.push({ ...segment, from: Math.max(from, window.from), until });
  };
  const faults = createFaults(record, proofs, dates);
  const since = new Map<string, number>();
  edges.forEach((at, index) => {
    const isEnd = index === edges.length - 1;
    const slots = isEnd ? [] : slotsAt(record, at, { proofs, faults, dates });
    for (const [slot, segment] of open) {
      const goesOn =
        slots.some((one) => one.slot === slot && one.key === segment.key) && !isCut(at, segment, dates, looked);
      if (goesOn) continue;
      close(segment, at);
      open.delete(slot);
    }
    const holding = new Set(slots.flatMap(({ slot, claims }) => claims.map((claim) => claimKey(slot, claim))));
    for (const key of since.keys()) if (!holding.has(key)) since.delete(key);
    for (const key of holding) if (!since.has(key)) since.set(key, at);
    for (const slot of slots) {
      if (open.has(slot.slot)) continue;
      const claims = slot.claims.map((claim) => ({ ...claim, since: since.get(claimKey(slot.slot, claim))! }));
      open.set(slot.slot, { ...slot, claims, from: at });
    }
  });
  return segments.toSorted((a, b) => a.slot - b.slot || a.from - b.from);
}

/** A slot at a moment; equal keys are one segment. */
type SlotState = Omit<PlannedSegment, "from" | "until"> & { readonly key: string };
type Open = SlotState & { readonly from: number };

/** A segment ends with its hour, and where a price or an owner changes, whatever goes on. */
function isCut(at: number, { state, claims }: SlotState, dates: KnownDates, looked: Span): boolean {
  if (at % HOUR_MILLIS === 0) return true;
  if (state !== undefined && dates.ofMachine(state, looked).includes(at)) return true;
  return claims.length > 0 && dates.ofOwners.includes(at);
}

function claimKey(slot: number, { holder, held }: PlannedClaim): string {
  const who = holder.kind === "pod" ? holder.uid : `${holder.kind} ${holder.namespace}/${holder.name}`;
  return `${slot}/${partOf(held)} ${who}`;
}

function partOf(held: PlannedClaim["held"]): string {
  if (held.what === "instance") return held.instance;
  if (held.what === "partition") return held.partition;
  return "part" in held ? (held.part ?? "") : "";
}

/** The labels of the exporters, as proofs: one that agrees proves the device for the pod's whole time. */
function proofsOf(record: NodeRecord): Proofs {
  const proofs = createProofs();
  for (const { holding } of record.pods.values()) {
    for (const { slot, part } of [...provenBefore(record, holding), ...provenHere(record, holding)])
      proofs.add(holding, deviceOf(slot, part));
  }
  return proofs;
}

function provenBefore({ proven }: NodeRecord, holding: Holding): readonly ProvenLabel[] {
  return proven.filter((label) => isNamed(label, holding) && holding.from <= label.at && label.at < holding.until);
}

/** What samples of the window show of a pod, a proof for each device. */
export function provenHere({ seen }: NodeRecord, holding: Holding): readonly ProvenLabel[] {
  return seen.flatMap(({ index: slot, labels }) =>
    labels.flatMap(({ part, namespace, pod, podUid = "", firstAt, lastAt }) => {
      const label = { slot, part, namespace, pod, podUid, at: Math.max(firstAt, holding.from) };
      return isNamed(label, holding) && holding.from <= lastAt && firstAt < holding.until ? [label] : [];
    }),
  );
}

/** What samples of the window prove first, of each pod. */
export function newlyProven(
  record: NodeRecord,
): readonly { readonly holding: Holding; readonly labels: readonly ProvenLabel[] }[] {
  return [...record.pods.values()].flatMap(({ holding }) => {
    const known = new Set(provenBefore(record, holding).map(({ slot, part }) => deviceOf(slot, part)));
    const labels = provenHere(record, holding).filter(({ slot, part }) => !known.has(deviceOf(slot, part)));
    return labels.length === 0 ? [] : [{ holding, labels }];
  });
}

function isNamed({ namespace, pod, podUid }: ProvenLabel, holding: Holding): boolean {
  return podUid === "" ? holding.namespace === namespace && holding.name === pod : holding.uid === podUid;
}

/** All times at which something can change, from the first that is looked at to the last. */
function edgesOf({ machines, pods, namespace, seen }: NodeRecord, looked: Span, dates: KnownDates) {
  const edges = new Set<number>([looked.from, looked.until, ...dates.ofOwners]);
  const add = ({ from, until }: Span): unknown => edges.add(from).add(until);
  for (let hour = Math.ceil(looked.from / HOUR_MILLIS) * HOUR_MILLIS; hour < looked.until; hour += HOUR_MILLIS)
    edges.add(hour);
  for (const machine of machines) {
    add(machine);
    for (const at of conditionEdges(machine)) edges.add(at);
    for (const state of machine.states) for (const at of dates.ofMachine(state, looked)) edges.add(at);
  }
  for (const { holding, startedAt, wholeAt } of pods.values()) {
    add(holding);
    edges.add(startedAt).add(wholeAt);
    for (const { from } of namespace(holding.namespace)) edges.add(from);
  }
  for (const gpu of seen) {
    add(gpu);
    for (const span of [...gpu.parts, ...gpu.strangers, ...gpu.faults, ...gpu.missing]) add(span);
    for (const { activeAt } of gpu.faults) for (const at of activeAt) edges.add(at);
  }
  return [...edges].filter((at) => looked.from <= at && at <= looked.until).toSorted((a, b) => a - b);
}

interface Asked {
  readonly proofs: Proofs;
  readonly faults: (slot: FilledSlot, at: number) => number | undefined;
  readonly dates: KnownDates;
}

/** Every slot of a node at a moment. */
function slotsAt(record: NodeRecord, at: number, { proofs, faults, dates }: Asked): readonly SlotState[] {
  const { machines, isBare } = record;
  const machine = machines.find(({ from, until }) => from <= at && at < until);
  if (machine === undefined && !isBare) return [];
  const state = machine === undefined ? undefined : stateOf(machine, at);
  const gpus = state?.fact.gpus ?? [];
  const slots = filledSlots(record, machine, state, at, dates);
  const known = knownHolders(record, slots, gpus, proofs, at);
  const unavailable = unavailableAt(
    machine,
    slots.map((slot): SlotAt => ({
      slot: slot.slot,
      seen: slot.seen,
      fault: faults(slot, at),
      isHeld: known.holders.some((holder) => holder.slot === slot.slot),
    })),
    at,
  );
  const holders = [...known.holders, ...commonHolders(record, slots, gpus, known, unavailable)];
  const isCordoned = machine !== undefined && conditionAt(machine, at).isCordoned;
  return slots.map((filled): SlotState => {
    const { slot, seen, gpu } = filled;
    const claims = holders
      .filter((holder) => holder.slot === slot)
      .map((holder) => ({ claim: claimOf(record, holder, at), order: tieOrder(record, holder) }))
      .toSorted((a, b) => compareKeys(a.order, b.order))
      .map(({ claim }) => claim);
    const namespaces = new Map(
      claims.flatMap(({ holder }) => {
        const named = holder.kind === "pod" ? record.pods.get(holder.uid)?.holding.namespace : holder.namespace;
        const state = named === undefined ? undefined : namespaceAt(record, named, at);
        return named === undefined || state === undefined ? [] : [[named, state] as const];
      }),
    );
    const delivered = slots.length;
    const unavailableBecause = unavailable.get(slot) ?? "";
    const gpuKey = seen?.gpuKey ?? "";
    const placed = state === undefined ? undefined : [state.placedSince, machine!.uid];
    const key = JSON.stringify([
      gpuKey,
      gpu,
      unavailableBecause,
      isCordoned,
      delivered,
      placed,
      claims,
      [...namespaces].map(([name, { labels, annotations }]) => [name, labels, annotations]),
    ]);
    return {
      slot,
      gpuKey,
      hasProcesses: seen?.hasProcesses ?? false,
      gpu,
      unavailableBecause,
      isCordoned,
      claims,
      state,
      appearedAt: machine?.from ?? appearedOf(filled),
      delivered,
      namespaces,
      key,
    };
  });
}

/** A machine's state at a time; what is said of it first holds for the time before it too. */
function stateOf(machine: Machine, at: number): MachineState | undefined {
  return stateAt(machine, at) ?? machine.states[0];
}

function appearedOf({ seen }: FilledSlot): number {
  return seen?.from ?? 0;
}

/** A machine's slots are the GPUs that it was delivered with; without Kubernetes, those that samples told of lately. */
function filledSlots(
  { seen, pods, claimed }: NodeRecord,
  machine: Machine | undefined,
  state: MachineState | undefined,
  at: number,
  dates: KnownDates,
): readonly FilledSlot[] {
  if (machine === undefined) {
    const here = seen.filter(({ from, until }) => from <= at && at < until);
    const indexes = [...new Set(here.map(({ index }) => index))].toSorted((a, b) => a - b);
    return indexes.map((slot) => fillSlot(slot, { seen: seenIn(slot, here, at), gpus: [] }, at));
  }
  const delivered = (state === undefined ? undefined : dates.delivered(state)) ?? machine.most;
  const uuids = uuidsByName([...pods.keys()].flatMap((uid) => claimed(uid)));
  return Array.from({ length: delivered }, (_, slot) => {
    const uuid = uuids.get(slot);
    const gpus = state?.fact.gpus ?? [];
    return fillSlot(slot, { seen: seenIn(slot, seen, at), gpus, ...(uuid === undefined ? {} : { uuid }) }, at);
  });
}

/** NVIDIA's DRA driver calls the GPU of index 3 `gpu-3`. */
function uuidsByName(devices: ReturnType<NodeRecord["claimed"]>): ReadonlyMap<number, string> {
  return new Map(
    devices.flatMap(({ device, uuid }) => {
      const index = /^gpu-(\d+)$/.exec(device)?.[1];
      return index === undefined || uuid === undefined ? [] : [[Number(index), uuid] as const];
    }),
  );
}

function claimOf(record: NodeRecord, { holder, held, evidence }: SlotHolder, at: number): PlannedClaim {
  const pod = holder.kind === "pod" ? record.pods.get(holder.uid) : undefined;
  const stage =
    pod === undefined ? "running" : at < pod.startedAt ? "starting" : at < pod.wholeAt ? "waiting" : "running";
  return { holder, held, evidence, stage, since: 0 };
}

/** What decides between claims of a GPU that are equal: instance, start, namespace, pod (ledger, "Words"). */
function tieOrder(record: NodeRecord, { part, holder }: SlotHolder): readonly (string | number)[] {
  if (holder.kind !== "pod") return [part, 0, holder.namespace, holder.name];
  const { from, namespace, name } = record.pods.get(holder.uid)!.holding;
  return [part, from, namespace, name];
}

function compareKeys(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const index = a.findIndex((part, place) => part !== b[place]);
  return index === -1 ? 0 : a[index]! < b[index]! ? -1 : 1;
}

function namespaceAt(record: NodeRecord, name: string, at: number) {
  const states = record.namespace(name);
  return states.findLast(({ from }) => from <= at) ?? states[0];
}

/**
 * The XID that a slot is under at a time: of the hardware class, as long as it is shown, up to the first activity of a pod that
 * was bound after it.
 */
function createFaults(record: NodeRecord, proofs: Proofs, dates: KnownDates): Asked["faults"] {
  const ends = new Map<SeenFault, number>();

  function endOf(fault: SeenFault, slot: number): number {
    const later = [...record.pods.values()].filter(({ holding }) => holding.from > fault.from);
    const returns = later.flatMap(({ holding }) => {
      const activeAt = fault.activeAt.find((at) => holding.from <= at && at < holding.until);
      return activeAt !== undefined && isOn(holding.uid, slot, activeAt) ? [activeAt] : [];
    });
    return Math.min(fault.until, ...returns);
  }

  function isOn(uid: string, slot: number, at: number): boolean {
    return knownAt(at).holders.some((one) => one.slot === slot && one.holder.kind === "pod" && one.holder.uid === uid);
  }

  function knownAt(at: number): KnownHolders {
    const machine = record.machines.find(({ from, until }) => from <= at && at < until);
    const state = machine === undefined ? undefined : stateOf(machine, at);
    const slots = filledSlots(record, machine, state, at, dates);
    return knownHolders(record, slots, state?.fact.gpus ?? [], proofs, at);
  }

  return ({ slot, seen }, at) => {
    const fault = seen?.faults.find(({ from, until }) => from <= at && at < until);
    if (fault === undefined) return undefined;
    const end = ends.get(fault) ?? endOf(fault, slot);
    ends.set(fault, end);
    return at < end ? fault.code : undefined;
  };
}
