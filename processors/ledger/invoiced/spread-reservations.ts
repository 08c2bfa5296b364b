import {
  add,
  divide,
  larger,
  multiply,
  rational,
  subtract,
  ZERO,
  type Rational,
} from "../../../domain/exact/rational.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import { perKind } from "../../../domain/price/kinds.ts";
import type { ExportCost, ReservedTime } from "./read-costs.ts";

/**
 * Spreads the cost of capacity reservations and blocks over the machines that ran in them, by their hours. The rest of the reserved hours is
 * an unused commitment. Reserved hours that are unknown are those of the machines; without a machine, the whole reservation is unused. All
 * other costs stay as they are. The exact sum stays.
 */
export function spreadReservations(
  costs: readonly ExportCost[],
  reserved: readonly ReservedTime[],
): readonly ExportCost[] {
  const times = groupedBy(reserved, ({ reservation }) => reservation);
  return costs.flatMap((cost) => {
    if (cost.kind !== "reservation") return [cost];
    const inside = (times.get(cost.reservation) ?? []).filter(
      ({ from, until, currency }) => from < cost.until && until > cost.from && currency === cost.currency,
    );
    const hours = inside.map((time) => multiply(time.hours, partInside(time, cost)));
    const used = hours.reduce(add, ZERO);
    const all = larger(cost.machineHours ?? ZERO, used);
    if (all.num === 0n) return [unused(cost, ZERO, undefined)];
    const machines = inside.map((time, index): ExportCost => ({
      ...cost,
      kind: "machine",
      machine: time.machine,
      from: Math.max(time.from, cost.from),
      until: Math.min(time.until, cost.until),
      // The lines of the machine itself have its hours.
      machineHours: undefined,
      costs: perKind(cost.costs, (amount) => multiply(amount, divide(hours[index]!, all))),
    }));
    return [...machines, ...(used.num * all.den < all.num * used.den ? [unused(cost, used, all)] : [])];
  });
}

/** Returns the part of a reservation that no machine used. */
function unused(cost: ExportCost, used: Rational, all: Rational | undefined): ExportCost {
  const part = all === undefined ? rational(1) : divide(subtract(all, used), all);
  return {
    ...cost,
    kind: "unused-commitment",
    commitment: cost.reservation,
    machineHours: undefined,
    costs: perKind(cost.costs, (amount) => multiply(amount, part)),
  };
}

/** Returns the part of a time that is in the span of a cost. */
function partInside(time: ReservedTime, cost: ExportCost): Rational {
  const inside = Math.min(time.until, cost.until) - Math.max(time.from, cost.from);
  return rational(inside, time.until - time.from);
}
