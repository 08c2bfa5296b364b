import type { Charge } from "../../../domain/charge/charge.ts";
import { add, subtract, ZERO, type Rational } from "../../../domain/exact/rational.ts";
import { lastUnits } from "../../../domain/exact/units.ts";
import type { Breach } from "./breach.ts";

/** The amounts of a charge that are counted, by the names of breaches. */
export const COUNTED = [
  ["gpu-hours", "gpuHours"],
  ["list", "list"],
  ["contracted", "contracted"],
  ["effective", "effective"],
  ["power", "power"],
  ["energy", "millijoules"],
  ["carbon", "carbon"],
] as const satisfies readonly (readonly [Breach["what"], string])[];

/** Sums in last units, energy in millijoules, shares in GPU-milliseconds. Undefined if no charge has the amount. */
export type Amounts = { readonly shareMillis: Rational } & Readonly<
  Record<(typeof COUNTED)[number][1], bigint | undefined>
>;

/** The amounts before any charge is added. */
export const NOTHING: Amounts = {
  shareMillis: ZERO,
  gpuHours: undefined,
  list: undefined,
  contracted: undefined,
  effective: undefined,
  power: undefined,
  millijoules: undefined,
  carbon: undefined,
};

/** Returns the amounts of a charge. */
export function amountsOf({ shareMillis, gpuHours, costs, power, millijoules, carbon }: Charge): Amounts {
  return {
    shareMillis,
    gpuHours,
    list: costs?.list,
    contracted: costs?.contracted,
    effective: costs?.effective,
    power,
    millijoules,
    carbon,
  };
}

/** Returns amounts with others added or subtracted. */
export function plus(a: Amounts, b: Amounts, sign: 1n | -1n): Amounts {
  const sum = (one: bigint | undefined, other: bigint | undefined): bigint | undefined =>
    other === undefined ? one : (one ?? 0n) + sign * other;
  return {
    shareMillis: sign === 1n ? add(a.shareMillis, b.shareMillis) : subtract(a.shareMillis, b.shareMillis),
    gpuHours: sum(a.gpuHours, b.gpuHours),
    list: sum(a.list, b.list),
    contracted: sum(a.contracted, b.contracted),
    effective: sum(a.effective, b.effective),
    power: sum(a.power, b.power),
    millijoules: sum(a.millijoules, b.millijoules),
    carbon: sum(a.carbon, b.carbon),
  };
}

/** Returns whether all amounts are 0. Absent amounts count as 0. */
export function isNothing(amounts: Amounts): boolean {
  return amounts.shareMillis.num === 0n && COUNTED.every(([, name]) => (amounts[name] ?? 0n) === 0n);
}

/** Returns a charge with other amounts. A charge without a price stays without costs. */
export function withAmounts(like: Charge, amounts: Amounts): Charge {
  const { shareMillis, gpuHours, list, contracted, effective, power, millijoules, carbon } = amounts;
  const costs = {
    list: lastUnits<"currency">(list ?? 0n),
    contracted: lastUnits<"currency">(contracted ?? 0n),
    effective: lastUnits<"currency">(effective ?? 0n),
  };
  return {
    ...like,
    shareMillis,
    gpuHours: lastUnits(gpuHours ?? 0n),
    costs: like.costs === undefined ? undefined : costs,
    power: power === undefined ? undefined : lastUnits(power),
    millijoules,
    carbon: carbon === undefined ? undefined : lastUnits(carbon),
  };
}
