import { split } from "../../../domain/exact/split.ts";
import { formatAmount, lastUnits } from "../../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { AllocationSums } from "./read.ts";

/** The name of allocations of capacity without a holder. */
const IDLE = "__idle__";

/** The division of idle cost among the holders: by their cost, or evenly. */
export type IdleSplit = "weighted" | "even";

/** A set of allocations in the form of OpenCost's API, by name. */
export type AllocationSet = Readonly<Record<string, object>>;

/**
 * Returns the sets of allocations of the sums. Idle capacity is left out, or is an allocation of its own, or is divided among the others,
 * to the last digit. If there are no others, it stays an allocation of its own.
 */
export function allocationSets(
  sums: readonly AllocationSums[],
  bounds: readonly number[],
  idle: { readonly isIncluded: boolean; readonly split: IdleSplit | undefined },
): readonly AllocationSet[] {
  return bounds.slice(1).map((end, set) => {
    const window = { start: iso(bounds[set]!), end: iso(end) };
    const own = sums.filter((one) => one.set === set);
    const named = combine(own.filter(({ kind }) => kind !== "idle"));
    const idleSums = own.filter(({ kind }) => kind === "idle");
    const idleCost = idleSums.reduce((sum, { cost }) => sum + cost, 0n);
    const shares = idle.split === undefined ? undefined : sharesOf(idleCost, named, idle.split);
    const allocations = named.map((one, index): [string, object] => [
      one.name,
      allocation(one, window, shares === undefined ? 0n : shares[index]!),
    ]);
    const isShown = idleSums.length > 0 && shares === undefined && (idle.isIncluded || idle.split !== undefined);
    const alone = isShown ? combine(idleSums.map((one) => ({ ...one, kind: "held", name: IDLE }))) : [];
    return Object.fromEntries([
      ...allocations,
      ...alone.map((one): [string, object] => [IDLE, allocation(one, window, 0n)]),
    ]);
  });
}

/** An allocation's own charges, and its part of shared charges. */
interface Combined extends Omit<AllocationSums, "kind"> {
  readonly shared: bigint;
}

/** Adds up the held and the shared sums of each name. */
function combine(sums: readonly AllocationSums[]): readonly Combined[] {
  const byName = new Map<string, Combined>();
  for (const { kind, ...one } of sums) {
    const isShared = kind === "shared";
    const added = isShared ? { ...one, cost: 0n, gpuHours: 0n, shared: one.cost } : { ...one, shared: 0n };
    const known = byName.get(one.name);
    byName.set(one.name, known === undefined ? added : both(known, added));
  }
  return [...byName.values()];
}

function both(one: Combined, other: Combined): Combined {
  const held = one.gpuHours !== 0n ? one : other;
  return {
    ...held,
    start: Math.min(one.start, other.start),
    end: Math.max(one.end, other.end),
    gpuHours: one.gpuHours + other.gpuHours,
    activeHours: one.activeHours + other.activeHours,
    cost: one.cost + other.cost,
    shared: one.shared + other.shared,
  };
}

/** Returns undefined if nobody can have a share. */
function sharesOf(cost: bigint, named: readonly Combined[], by: IdleSplit): readonly bigint[] | undefined {
  return split(
    cost,
    named.map((one) => (by === "even" ? 1n : one.cost > 0n ? one.cost : 0n)),
  );
}

/** The fields of OpenCost's allocations for other resources, which this ledger does not meter. */
const NOT_METERED = {
  cpuCores: 0,
  cpuCoreRequestAverage: 0,
  cpuCoreLimitAverage: 0,
  cpuCoreUsageAverage: 0,
  cpuCoreHours: 0,
  cpuCost: 0,
  cpuCostAdjustment: 0,
  cpuCostIdle: 0,
  cpuEfficiency: 0,
  networkTransferBytes: 0,
  networkReceiveBytes: 0,
  networkCost: 0,
  networkCrossZoneCost: 0,
  networkCrossRegionCost: 0,
  networkInternetCost: 0,
  networkCostAdjustment: 0,
  loadBalancerCost: 0,
  loadBalancerCostAdjustment: 0,
  pvBytes: 0,
  pvByteHours: 0,
  pvCost: 0,
  pvs: null,
  pvCostAdjustment: 0,
  ramBytes: 0,
  ramByteRequestAverage: 0,
  ramByteLimitAverage: 0,
  ramByteUsageAverage: 0,
  ramByteHours: 0,
  ramCost: 0,
  ramCostAdjustment: 0,
  ramCostIdle: 0,
  ramEfficiency: 0,
  externalCost: 0,
  lbAllocations: null,
};

function allocation(
  { name, properties, start, end, gpuHours, activeHours, cost, shared }: Combined,
  window: { readonly start: string; readonly end: string },
  idle: bigint,
): object {
  const { labels, gpuModel, ...names } = properties;
  const hours = (end - start) / HOUR_MILLIS;
  const efficiency = gpuHours === 0n ? 0 : Number(activeHours) / Number(gpuHours);
  const kept = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== ""));
  return {
    name,
    properties: labels === "" || labels === "{}" ? kept : { ...kept, labels: JSON.parse(labels) as unknown },
    window,
    start: iso(start),
    end: iso(end),
    minutes: hours * 60,
    ...NOT_METERED,
    gpuCount: number(gpuHours) / hours,
    gpuHours: number(gpuHours),
    gpuCost: number(cost + idle),
    gpuCostAdjustment: 0,
    gpuCostIdle: number(idle),
    gpuEfficiency: efficiency,
    sharedCost: number(shared),
    totalCost: number(cost + idle + shared),
    totalEfficiency: efficiency,
    gpuAllocation: {
      gpuDevice: "",
      gpuModel,
      gpuUUID: "",
      isGPUShared: false,
      gpuUsageAverage: number(activeHours) / hours,
      gpuRequestAverage: number(gpuHours) / hours,
    },
  };
}

/** Returns the nearest floating-point number of an exact amount. OpenCost's amounts are floating-point numbers. */
function number(amount: bigint): number {
  return Number(formatAmount(lastUnits<"currency">(amount)));
}

function iso(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19)}Z`;
}
