import type { InventoryFact } from "../../../domain/inventory.ts";
import { isWholeGpu, vendorOfResource } from "../../../domain/vendor.ts";
import type { Machine, MachineState, SeenGpu } from "./node-record.ts";

/** What a machine's Node says of it at a moment. */
export interface Condition {
  readonly isReady: boolean;
  readonly isCordoned: boolean;
}

/** The state of a machine's Node at a time; undefined where nothing was said of it yet. */
export function stateAt({ states }: Machine, at: number): MachineState | undefined {
  return states.findLast(({ from }) => from <= at);
}

/**
 * How a machine was at a time. Readiness changed when the condition says so, which is before anybody saw it; what is said
 * first of a machine holds for the time before it too.
 */
export function conditionAt(machine: Machine, at: number): Condition {
  const readiness = machine.states.flatMap(({ fact }) => readyOf(fact) ?? []);
  const ready = readiness.findLast(({ since }) => since <= at) ?? readiness[0];
  const cordons = machine.states.findLast(({ from, fact }) => (fact.cordonedSince ?? from) <= at);
  return { isReady: ready?.isReady ?? true, isCordoned: cordons?.fact.cordonedSince !== undefined };
}

/** The times at which {@link conditionAt} can change. */
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

/** Why a GPU in MIG mode without an instance cannot be used. */
export const MIG_WITHOUT_INSTANCES = "mig-without-instances";

/** What is known of a slot when it is asked why it cannot be used. */
export interface SlotAt {
  readonly slot: number;
  readonly seen: SeenGpu | undefined;
  /** An XID of the hardware class that nothing has ended yet. */
  readonly fault: number | undefined;
  /** The key of a taint that keeps new claims from it. */
  readonly taint: string | undefined;
  /** The status of a pod that has it calls it unhealthy. */
  readonly isUnhealthy: boolean;
  readonly isHeld: boolean;
  /** It is cut into instances or partitions. */
  readonly isCut: boolean;
}

/**
 * Why each slot cannot be used at a time; slots that can are left out. What the machine was delivered with and its Node does
 * not count is absent; what its Node counts and does not offer is withdrawn. Which of them it is: those that samples leave
 * out, then free ones, the highest index first (ledger, "Prices").
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
 * The GPUs that a Node offers whole, where it offers instances beside them (the mixed strategy of MIG): what is cut into none and not
 * among these is in MIG mode without an instance. Infinity where nothing says it.
 */
function wholeOf({ gpus, capacity }: InventoryFact): number {
  const [kind, other] = gpus;
  const offered = capacity["nvidia.com/gpu"];
  if (kind?.mig.strategy !== "mixed" || other !== undefined || offered === undefined) return Infinity;
  return Math.ceil((offered + (capacity["nvidia.com/gpu.shared"] ?? 0)) / Math.max(1, kind.replicas));
}

/**
 * So many of the slots: those of which samples around the window say nothing while they tell of others, then free ones, then any,
 * the highest index first.
 */
function pick(slots: readonly SlotAt[], count: number): ReadonlySet<number> {
  if (count <= 0) return new Set();
  const isSeen = slots.some(({ seen }) => seen !== undefined);
  const rank = ({ seen, isHeld }: SlotAt): number => (isSeen && seen === undefined ? 0 : isHeld ? 2 : 1);
  const order = slots.toSorted((a, b) => rank(a) - rank(b) || b.slot - a.slot);
  return new Set(order.slice(0, count).map(({ slot }) => slot));
}

/** The GPUs that a Node counts and does not offer. */
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
