import type { Charge, ChargeState } from "../domain/charge/charge.ts";
import { lastUnits, type GpuHours, type Money } from "../domain/exact/units.ts";

/** GPUs and their cost in an hour. GPU-hours of one hour are GPUs. */
export interface Spend {
  readonly gpus: GpuHours;
  readonly cost: Money;
}

/** All GPUs of a snapshot. */
export interface Total extends Spend {
  /** The GPUs without a price. They are not in the cost. */
  readonly unpricedGpus: GpuHours;
}

/** The GPUs for which a team pays, in one state. */
export interface TeamSpend extends Spend {
  readonly team: string;
  readonly state: ChargeState;
}

/** Adds up charges by a key; the highest cost comes first, of equal ones the first by key. */
export function spendBy(charges: readonly Charge[], keyOf: (charge: Charge) => string): ReadonlyMap<string, Spend> {
  const sums = new Map<string, { gpus: bigint; cost: bigint }>();
  for (const charge of charges) {
    const key = keyOf(charge);
    const sum = sums.get(key) ?? { gpus: 0n, cost: 0n };
    sums.set(key, sum);
    sum.gpus += charge.gpuHours;
    sum.cost += charge.costs?.effective ?? 0n;
  }
  const sorted = [...sums].toSorted(([one, a], [other, b]) => compare(b.cost, a.cost) || (one < other ? -1 : 1));
  return new Map(sorted.map(([key, { gpus, cost }]) => [key, { gpus: lastUnits(gpus), cost: lastUnits(cost) }]));
}

/** Compares two amounts, like `a - b`. */
export function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

/** Returns the total of charges, and their sums by team and state. */
export function spendOf(charges: readonly Charge[]): { readonly total: Total; readonly teams: readonly TeamSpend[] } {
  const unpriced = charges.filter(({ costs }) => costs === undefined);
  return {
    total: { ...totalOf(charges), unpricedGpus: totalOf(unpriced).gpus },
    teams: [...spendBy(charges, ({ team, state }) => JSON.stringify([team, state]))].map(([key, spend]) => {
      const [team, state] = JSON.parse(key) as [string, ChargeState];
      return { team, state, ...spend };
    }),
  };
}

function totalOf(charges: readonly Charge[]): Spend {
  return spendBy(charges, () => "").get("") ?? { gpus: lastUnits(0n), cost: lastUnits(0n) };
}
