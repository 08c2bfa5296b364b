import type { InventoryFact } from "../../../domain/inventory.ts";
import { isWholeGpu, vendorOfResource } from "../../../domain/vendor.ts";
import type { Machine, MachineState, SeenGpu } from "./node-record.ts";

/** The condition of a machine's Node at a moment. */
export interface Condition {
  readonly isReady: boolean;
  readonly isCordoned: boolean;
}

/** Returns the state of a machine's Node at a time; undefined before its first state. */
export function stateAt({ states }: Machine, at: number): MachineState | undefined {
  return states.findLast(({ from }) => from <= at);
}

/**
 * Returns the condition of a machine at a time. Readiness changed at the time in the condition, which is before it was observed. The first
 * state also holds for the time before it.
 */
export function conditionAt(machine: Machine, at: number): Condition {
  const readiness = machine.states.flatMap(({ fact }) => readyOf(fact) ?? []);
  const ready = readiness.findLast(({ since }) => since <= at) ?? readiness[0];
  const cordons = machine.states.findLast(({ from, fact }) => (fact.cordonedSince ?? from) <= at);
  return { isReady: ready?.isReady ?? true, isCordoned: cordons?.fact.cordonedSince !== undefined };
}

/** Returns the times at which {@link conditionAt} can change. */
export function conditionEdges({ states }: Machine): readonly number[] {
  return states.flatMap(({ from, fact }) => {
    const ready = readyOf(fact);
    return [from, fact.cordonedSince ?? from, ready?.since ?? from];
  });
}

function readyOf({ conditions }: InventoryFact): { readonly since: number; readonly isReady: boolean } | undefined {
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready === undefined ? undefined : { since: ready.since, isReady: ready.status === "True" };
}

/** The reason why a GPU in MIG mode without an instance cannot be used. */
export const MIG_WITHOUT_INSTANCES = "mig-without-instances";

/** The fields of a slot that decide whether it can be used. */
export interface SlotAt {
  readonly slot: number;
  readonly seen: SeenGpu | undefined;
  /** A current XID of the hardware class. */
  readonly fault: number | undefined;
  /** The key of a taint that keeps new claims from the slot. */
  readonly taint: string | undefined;
  /** The status of a pod that has the device reports it as unhealthy. */
  readonly isUnhealthy: boolean;
  readonly isHeld: boolean;
  /** The GPU is cut into instances or partitions. */
  readonly isCut: boolean;
}

/**
 * Returns why each slot cannot be used at a time. Usable slots are left out. GPUs that the machine was delivered with and its Node does not
 * count are absent. GPUs that its Node counts and does not offer are withdrawn. The chosen slots are those without samples first, then free
 * ones, highest index first.
 */
export function unavailableAt(
  machine: Machine | undefined,
  slots: readonly SlotAt[],
  at: number,
): ReadonlyMap<number, string> {
  const because = new Map<number, string>();
  for (const { slot, taint, isHeld } of slots) if (taint !== undefined && !isHeld) because.set(slot, `taint ${taint}`);
  for (const { slot, isUnhealthy } of slots) if (isUnhealthy) because.set(slot, "unhealthy");
  for (const { slot, fault } of slots) if (fault !== undefined) because.set(slot, `xid-${fault}`);
  if (machine === undefined) return because;
  if (!conditionAt(machine, at).isReady) for (const { slot } of slots) because.set(slot, "not-ready");
  const fact = stateAt(machine, at)?.fact;
  if (fact === undefined) return because;
  const count = fact.gpus.reduce((sum, gpus) => sum + gpus.count, 0);
  const gone = pick(slots, slots.length - count);
  for (const slot of gone) because.set(slot, "absent");
  const left = slots.filter(({ slot }) => !gone.has(slot));
  const isBroken = ({ fault, isUnhealthy }: SlotAt): boolean => fault !== undefined || isUnhealthy;
  const broken = left.filter(isBroken);
  const withdrawn = pick(
    left.filter((slot) => !isBroken(slot)),
    withdrawnOf(fact) - broken.length,
  );
  for (const slot of withdrawn) if (!because.has(slot)) because.set(slot, "withdrawn");
  const uncut = left.filter(({ slot, isCut, isHeld }) => !isCut && !isHeld && !because.has(slot));
  const held = left.filter(({ isCut, isHeld }) => !isCut && isHeld).length;
  for (const slot of pick(uncut, uncut.length + held - wholeOf(fact))) because.set(slot, MIG_WITHOUT_INSTANCES);
  return because;
}

/**
 * Returns the number of GPUs that a Node offers whole in addition to instances (the mixed strategy of MIG). A GPU without instances that is
 * not among them is in MIG mode without an instance. Infinity if unknown.
 */
function wholeOf({ gpus, capacity }: InventoryFact): number {
  const [kind, other] = gpus;
  const offered = capacity["nvidia.com/gpu"];
  if (kind?.mig.strategy !== "mixed" || other !== undefined || offered === undefined) return Infinity;
  return Math.ceil((offered + (capacity["nvidia.com/gpu.shared"] ?? 0)) / Math.max(1, kind.replicas));
}

/**
 * Picks `count` slots: first those without samples around the window while other slots have some, then free ones, then any, highest index
 * first.
 */
function pick(slots: readonly SlotAt[], count: number): ReadonlySet<number> {
  if (count <= 0) return new Set();
  const isSeen = slots.some(({ seen }) => seen !== undefined);
  const rank = ({ seen, isHeld }: SlotAt): number => (isSeen && seen === undefined ? 0 : isHeld ? 2 : 1);
  const order = slots.toSorted((a, b) => rank(a) - rank(b) || b.slot - a.slot);
  return new Set(order.slice(0, count).map(({ slot }) => slot));
}

/** Returns the number of GPUs that a Node counts and does not offer. */
function withdrawnOf({ gpus, capacity, allocatable }: InventoryFact): number {
  const vendors = new Map(
    gpus.map(({ vendor, replicas, partitions = 1 }) => [vendor, Math.max(1, replicas, partitions)]),
  );
  return [...vendors].reduce((sum, [vendor, each]) => {
    const resources = Object.keys(capacity).filter((name) => vendorOfResource(name) === vendor && isWholeGpu(name));
    const lost = resources.reduce((count, name) => count + (capacity[name]! - (allocatable[name] ?? 0)), 0);
    return sum + Math.ceil(Math.max(0, lost) / each);
  }, 0);
}
