import type { GpuAt } from "../../../domain/share/layout.ts";
import { partIdOf } from "../../../domain/share/claim.ts";
import type { Proofs } from "../../../domain/attribution/proofs.ts";
import { commonHolders } from "./common-holders.ts";
import { conditionAt, conditionEdges, MIG_WITHOUT_INSTANCES, unavailableAt, type SlotAt } from "./condition.ts";
import { taintOf } from "./device-taints.ts";
import { createFaults, type Faults } from "./faults.ts";
import type { KnownDates } from "./known-dates.ts";
import { isUnhealthy, knownHolders } from "./ladder.ts";
import { createSlots, stateOf, type Slots } from "./machine-slots.ts";
import type { NamespaceState, NodeRecord, Span } from "./node-record.ts";
import type { PlannedClaim, PlannedSegment, SlotHolder } from "./planned.ts";
import { proofsOf } from "./proven.ts";
import type { FilledSlot } from "./slots.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/**
 * Plans the segments of each slot of a node over a window, cut where any known fact changes. The function is pure. Nothing is measured yet.
 * It looks `reachMillis` further back, because a sample from then can cover the window's start, for holders that held by then.
 */
export function planNode(
  record: NodeRecord,
  window: Span,
  reachMillis: number,
  dates: KnownDates,
): readonly PlannedSegment[] {
  const looked = { from: window.from - reachMillis, until: window.until };
  const proofs = proofsOf(record);
  const { edges, changes } = edgesOf(record, looked, dates);
  const open = new Map<number, Open>();
  const segments: PlannedSegment[] = [];
  const close = ({ from, plan }: Open, until: number): void => {
    if (until > window.from) segments.push({ ...plan, from: Math.max(from, window.from), until });
  };
  const slotsOf = createSlots(record, dates);
  const faults = createFaults(record, proofs, slotsOf);
  const since = new Map<string, number>();
  let slots: ReadonlyMap<number, SlotState> = new Map();
  edges.forEach((at, index) => {
    if (index === edges.length - 1) slots = new Map();
    else if (changes.has(at))
      slots = new Map(slotsAt(record, at, { proofs, faults, slotsOf }).map((one) => [one.plan.slot, one]));
    for (const [slot, segment] of open) {
      if (slots.get(slot)?.key === segment.key && !isCut(at, segment.plan, dates, looked)) continue;
      close(segment, at);
      open.delete(slot);
    }
    const holding = new Set<string>();
    for (const { plan } of slots.values()) for (const claim of plan.claims) holding.add(claimKey(plan.slot, claim));
    for (const key of since.keys()) if (!holding.has(key)) since.delete(key);
    for (const key of holding) if (!since.has(key)) since.set(key, at);
    for (const [slot, { key, plan }] of slots) {
      if (open.has(slot)) continue;
      const claims = plan.claims.map((claim) => ({ ...claim, since: since.get(claimKey(slot, claim))! }));
      open.set(slot, { key, plan: { ...plan, claims }, from: at });
    }
  });
  return segments.toSorted((a, b) => a.slot - b.slot || a.from - b.from);
}

type SlotPlan = Omit<PlannedSegment, "from" | "until">;

/** A slot at a moment. Equal keys belong to one segment. */
interface SlotState {
  readonly key: string;
  readonly plan: SlotPlan;
}

interface Open extends SlotState {
  readonly from: number;
}

/** Returns whether a segment must end at a time: at the end of its hour, and where a price or an owner changes. */
function isCut(at: number, { state, claims }: SlotPlan, dates: KnownDates, looked: Span): boolean {
  if (at % HOUR_MILLIS === 0) return true;
  if (state !== undefined && dates.ofMachine(state, looked).has(at)) return true;
  return claims.length > 0 && dates.ofOwners.includes(at);
}

function claimKey(slot: number | string, { holder, held }: PlannedClaim): string {
  const who = holder.kind === "pod" ? holder.uid : `${holder.kind} ${holder.namespace}/${holder.name}`;
  return `${slot}/${partIdOf(held) ?? ""} ${who}`;
}

function claimText(claim: PlannedClaim): string {
  const { held, evidence, stage } = claim;
  return `${evidence} ${stage} ${JSON.stringify(held)} ${claimKey("", claim)}`;
}

interface Edges {
  /** All times at which a segment can end, from the first to the last. */
  readonly edges: readonly number[];
  /** The times at which a slot can change. At the other times only a date passes. */
  readonly changes: ReadonlySet<number>;
}

function edgesOf(
  { machines, isBare, pods, namespace, seen, taints }: NodeRecord,
  looked: Span,
  dates: KnownDates,
): Edges {
  const passed = new Set<number>([looked.until, ...dates.ofOwners]);
  for (let hour = Math.ceil(looked.from / HOUR_MILLIS) * HOUR_MILLIS; hour < looked.until; hour += HOUR_MILLIS)
    passed.add(hour);
  const changes = new Set<number>([looked.from]);
  const add = ({ from, until }: Span): unknown => changes.add(from).add(until);
  const addNamespace = (name: string): void => {
    for (const { from } of namespace(name)) changes.add(from);
  };
  for (const machine of machines) {
    add(machine);
    for (const at of conditionEdges(machine)) changes.add(at);
    for (const state of machine.states) for (const at of dates.ofMachine(state, looked)) passed.add(at);
  }
  for (const { holding, startedAt, wholeAt } of pods.values()) {
    add(holding);
    changes.add(startedAt).add(wholeAt);
    for (const evidence of holding.evidence) {
      for (const { from, until = Infinity } of evidence.by === "status" ? (evidence.unhealthy ?? []) : [])
        add({ from, until });
    }
    addNamespace(holding.namespace);
  }
  for (const taint of taints) add(taint);
  for (const gpu of seen) {
    // The first sight of a GPU matters if another GPU had its slot, or if only samples are known.
    if (isBare || seen.some((other) => other !== gpu && other.index === gpu.index)) add(gpu);
    for (const span of [...gpu.parts, ...gpu.strangers, ...gpu.faults]) add(span);
    for (const stranger of gpu.strangers) addNamespace(stranger.namespace);
    for (const { activeAt } of gpu.faults) for (const at of activeAt) changes.add(at);
  }
  const all = [...new Set([...passed, ...changes])].filter((at) => looked.from <= at && at <= looked.until);
  return { edges: all.toSorted((a, b) => a - b), changes };
}

interface Asked {
  readonly proofs: Proofs;
  readonly faults: Faults;
  readonly slotsOf: Slots;
}

const NO_INSTANCES: GpuAt["layout"] = { kind: "mig", instances: [] };

/** Returns every slot of a node at a moment. */
function slotsAt(record: NodeRecord, at: number, { proofs, faults, slotsOf }: Asked): readonly SlotState[] {
  const { machines, isBare } = record;
  const machine = machines.find(({ from, until }) => from <= at && at < until);
  if (machine === undefined && !isBare) return [];
  const state = machine === undefined ? undefined : stateOf(machine, at);
  const gpus = state?.fact.gpus ?? [];
  const slots = slotsOf(machine, state, at);
  const known = knownHolders(record, slots, gpus, proofs, at);
  const taints = new Map(slots.map((slot) => [slot.slot, taintOf(record, slot, at)]));
  const unavailable = unavailableAt(
    machine,
    slots.map((slot): SlotAt => ({
      slot: slot.slot,
      seen: slot.seen?.isSilent === true ? undefined : slot.seen,
      fault: faults(slot, at),
      taint: taints.get(slot.slot),
      isUnhealthy: isUnhealthy(record, slot, at),
      isHeld: known.holders.some((holder) => holder.slot === slot.slot),
      isCut: slot.devices.some(({ part }) => part !== ""),
    })),
    at,
  );
  const bySlot = new Map<number, SlotHolder[]>(slots.map(({ slot }) => [slot, []]));
  for (const holder of [...known.holders, ...commonHolders(record, slots, gpus, known, unavailable)])
    bySlot.get(holder.slot)?.push(holder);
  const isNodeCordoned = machine !== undefined && conditionAt(machine, at).isCordoned;
  const delivered = slots.length;
  const ofAll = JSON.stringify([delivered, state?.describedSince, machine?.uid]);
  return slots.map((filled): SlotState => {
    const { slot, seen } = filled;
    const unavailableBecause = unavailable.get(slot) ?? "";
    // A holder of a tainted device keeps it, and its free part gets no new holder.
    const isCordoned = isNodeCordoned || taints.get(slot) !== undefined;
    const gpu = unavailableBecause === MIG_WITHOUT_INSTANCES ? { ...filled.gpu, layout: NO_INSTANCES } : filled.gpu;
    const claims = inOrder(record, bySlot.get(slot)!).map((holder) => claimOf(record, holder, at));
    const namespaces = new Map<string, NamespaceState>();
    for (const { holder } of claims) {
      const named = holder.kind === "pod" ? record.pods.get(holder.uid)?.holding.namespace : holder.namespace;
      const marks = named === undefined ? undefined : namespaceAt(record, named, at);
      if (named !== undefined && marks !== undefined) namespaces.set(named, marks);
    }
    const gpuKey = seen?.gpuKey ?? "";
    const ofClaims = claims.map(claimText);
    const ofNamespaces = [...namespaces].map(([name, marks]) => `${name} ${textOf(marks)}`);
    const key = JSON.stringify([
      ofAll,
      isCordoned,
      gpuKey,
      textOf(gpu),
      unavailableBecause,
      ...ofClaims,
      "",
      ...ofNamespaces,
    ]);
    return {
      key,
      plan: {
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
      },
    };
  });
}

/** A cache for objects that stay the same at most edges. */
const texts = new WeakMap<object, string>();

function textOf(object: GpuAt | NamespaceState): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = JSON.stringify("labels" in object ? [object.labels, object.annotations] : object);
  texts.set(object, text);
  return text;
}

function appearedOf({ seen }: FilledSlot): number {
  return seen?.from ?? 0;
}

function claimOf(record: NodeRecord, { holder, held, evidence }: SlotHolder, at: number): PlannedClaim {
  const pod = holder.kind === "pod" ? record.pods.get(holder.uid) : undefined;
  const stage =
    pod === undefined ? "running" : at < pod.startedAt ? "starting" : at < pod.wholeAt ? "waiting" : "running";
  return { holder, held, evidence, stage, since: 0 };
}

function inOrder(record: NodeRecord, holders: readonly SlotHolder[]): readonly SlotHolder[] {
  if (holders.length < 2) return holders;
  const orders = new Map(holders.map((holder) => [holder, tieOrder(record, holder)]));
  return holders.toSorted((a, b) => compareKeys(orders.get(a)!, orders.get(b)!));
}

/** Returns the order of equal claims on a GPU: instance, start, namespace, pod. */
function tieOrder(record: NodeRecord, { part, holder }: SlotHolder): readonly (string | number)[] {
  if (holder.kind !== "pod") return [part, 0, holder.namespace, holder.name];
  const { from, namespace, name } = record.pods.get(holder.uid)!.holding;
  return [part, from, namespace, name];
}

function compareKeys(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const index = a.findIndex((part, at) => part !== b[at]);
  return index === -1 ? 0 : a[index]! < b[index]! ? -1 : 1;
}

function namespaceAt(record: NodeRecord, name: string, at: number) {
  const states = record.namespace(name);
  return states.findLast(({ from }) => from <= at) ?? states[0];
}
