import type { Charge } from "../domain/charge/charge.ts";
import { sum } from "../domain/exact/units.ts";
import type { Bill, BillLine } from "./bill.ts";

/** Charges as a scenario's bill. */
export function billOf(charges: readonly Charge[]): Bill {
  return { lines: charges.map(lineOf), total: sum(charges.flatMap(({ costs }) => costs?.effective ?? [])) };
}

/** A charge with its dimensions by the names of `scenarios.md`. */
function lineOf(charge: Charge): BillLine {
  const { holder, slot, costs, gpuHours, fromMillis } = charge;
  const { cluster, node, gpuModel, capacityType, state, because, team, costCenter, project, environment } = charge;
  const period = new Date(fromMillis).toISOString().slice(0, 7);
  const labels = Object.entries(holder?.labels ?? {}).map(([name, value]) => [`label.${name}`, value] as const);
  return {
    dimensions: {
      team,
      costCenter,
      project,
      environment,
      cluster,
      node,
      gpuModel,
      capacityType,
      state,
      because,
      gpu: slot === undefined ? "" : String(slot),
      namespace: holder?.namespace ?? "",
      pod: holder?.pod ?? "",
      workload: holder?.workload ?? "",
      workloadKind: holder?.workloadKind ?? "",
      type: holder?.type ?? "",
      queue: holder?.queue ?? "",
      priorityClass: holder?.priorityClass ?? "",
      attribution: holder?.attribution ?? "",
      chargePeriod: period,
      billingPeriod: period,
      unpriced: costs === undefined ? "true" : "",
      ...Object.fromEntries(labels),
    },
    gpuHours,
    cost: costs?.effective,
  };
}
