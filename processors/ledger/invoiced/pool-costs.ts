import { add, divide, multiply, ZERO } from "../../../domain/exact/rational.ts";
import { groupBy } from "../../../domain/grouped.ts";
import { perKind } from "../../../domain/price/kinds.ts";
import type { ExportCost } from "./read-costs.ts";

/**
 * Returns the costs of machines with the mean cost per hour of the machines of their account, region, type and time. Spot machines are a pool
 * of their own. A machine whose hours are unknown keeps its cost. The exact sum stays.
 */
export function poolCosts(costs: readonly ExportCost[]): readonly ExportCost[] {
  return groupBy(costs, poolOf).flatMap((pool) => {
    const hours = pool.map(({ machineHours }) => machineHours ?? ZERO).reduce(add, ZERO);
    if (pool.length === 1 || hours.num <= 0n) return pool;
    const sums = perKind({ list: "list", contracted: "contracted", effective: "effective" } as const, (kind) =>
      pool.map((cost) => cost.costs[kind]).reduce(add, ZERO),
    );
    return pool.map((cost) => {
      const part = divide(cost.machineHours ?? ZERO, hours);
      return { ...cost, costs: perKind(sums, (sum) => multiply(sum, part)) };
    });
  });
}

function poolOf(cost: ExportCost): readonly string[] {
  const { kind, source, account, region, instanceType, capacityType, currency, from, until, machineHours, machine } =
    cost;
  const isAlone = kind !== "machine" || machineHours === undefined || machineHours.num <= 0n;
  const spot = capacityType === "spot" ? "spot" : "";
  return isAlone
    ? [kind, machine, account, cost.commitment, cost.reservation, String(from), String(until), currency, source]
    : [source, account, String(cost.billingFrom), region, instanceType, spot, currency, String(from), String(until)];
}
