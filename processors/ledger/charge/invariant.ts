import type { Charge } from "../../../domain/charge/charge.ts";
import { gpuHoursSince } from "../../../domain/exact/accrual.ts";
import { gpuPartOf } from "../../../domain/gpu-model/instance-types.ts";
import { formatAmount, type Amount, type Money, type Quantity } from "../../../domain/exact/units.ts";
import { SUMMED, type Breach } from "./breach.ts";
import type { ChargedNode } from "./charge-node.ts";

type Sums = Record<(typeof SUMMED)[number], bigint>;

/**
 * Compares the charges of an hour, spread or not, with the cost, the measured energy and the time of existence of each GPU and node. The
 * expected values come only from the price book, the usage rows and the clock. Returns each breach; empty if every sum is exact to the last
 * unit.
 */
export function breachesOf(
  policy: string,
  node: string,
  { slots, beside = [] }: Pick<ChargedNode, "slots" | "beside">,
  charges: readonly Charge[],
): readonly Breach[] {
  const expected = new Map<string, Sums>();
  for (const { slot, charged } of slots) {
    const of = sumsOf(expected, String(slot));
    const { appearedAt, instanceType } = charged.segments[0]!.hour.machine;
    const hours = gpuHoursSince(appearedAt, gpuPartOf(instanceType));
    for (const { fromMillis, untilMillis, price } of charged.pieces) {
      of["gpu-hours"] += hours.roundedAt(untilMillis) - hours.roundedAt(fromMillis);
      addCosts(of, price?.gpu(slot));
      addPower(of, price?.power(charged.segments.map(({ hour }) => hour.segment)));
      if (slot === 0) addCosts(sumsOf(expected, ""), price?.nonGpu);
    }
    for (const { hour, carbon } of charged.segments) {
      of.energy += hour.segment.energy.millijoules;
      of.carbon += carbon ?? 0n;
    }
  }
  for (const costs of beside) addCosts(sumsOf(expected, ""), costs);
  const found = new Map<string, Sums>();
  for (const { slot, gpuHours, costs, power, millijoules, carbon } of charges) {
    const of = sumsOf(found, slot === undefined ? "" : String(slot));
    of["gpu-hours"] += gpuHours;
    addCosts(of, costs);
    of.power += power ?? 0n;
    of.energy += millijoules ?? 0n;
    of.carbon += carbon ?? 0n;
  }
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((slot) => {
    const [wanted, got] = [sumsOf(expected, slot), sumsOf(found, slot)];
    return SUMMED.flatMap((what) =>
      wanted[what] === got[what]
        ? []
        : [{ policy, node, slot, what, expected: sumText(what, wanted[what]), found: sumText(what, got[what]) }],
    );
  });
}

function sumsOf(all: Map<string, Sums>, slot: string): Sums {
  const known = all.get(slot);
  if (known !== undefined) return known;
  const none: Sums = { "gpu-hours": 0n, list: 0n, contracted: 0n, effective: 0n, power: 0n, energy: 0n, carbon: 0n };
  all.set(slot, none);
  return none;
}

function addCosts(sums: Sums, costs: Charge["costs"]): void {
  if (costs === undefined) return;
  sums.list += costs.list;
  sums.contracted += costs.contracted;
  sums.effective += costs.effective;
}

/** Adds power to each of the costs, because charges include it. */
function addPower(sums: Sums, power: Money | undefined): void {
  if (power === undefined) return;
  sums.power += power;
  addCosts(sums, { list: power, contracted: power, effective: power });
}

/** Returns a compared sum as text: energy in millijoules, all others as decimals. */
export function sumText(what: (typeof SUMMED)[number], amount = 0n): string {
  return what === "energy" ? String(amount) : formatAmount(amount as Amount<Quantity>);
}
