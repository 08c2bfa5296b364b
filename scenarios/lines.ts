import type { BookedCharge } from "../processors/charges/charge-rows.ts";
import { sum } from "../domain/exact/units.ts";
import { dateText } from "../domain/period.ts";
import type { Bill, BillLine } from "./bill.ts";

/** Charges as a scenario's bill: those that correct what was closed stand beside it, and not in its total. */
export function billOf(charges: readonly BookedCharge[]): Bill {
  const own = charges.filter(({ corrects }) => corrects === "");
  const corrections = charges.filter(({ corrects }) => corrects !== "");
  return {
    lines: own.map(lineOf),
    total: sum(own.flatMap(({ costs }) => costs?.effective ?? [])),
    ...(corrections.length === 0 ? {} : { corrections: corrections.map(lineOf) }),
  };
}

/** A charge with its dimensions by the names of `scenarios.md`. */
function lineOf(charge: BookedCharge): BillLine {
  const { holder, slot, costs, gpuHours, millijoules, carbon, fromMillis } = charge;
  const { cluster, node, gpuModel, instanceType, region, zone, pool, capacityType } = charge;
  const { state, because, payer, team, costCenter, project, environment } = charge;
  const day = dateText(fromMillis);
  const labels = Object.entries(holder?.labels ?? {}).map(([name, value]) => [`label.${name}`, value] as const);
  return {
    dimensions: {
      team,
      costCenter,
      project,
      environment,
      payer,
      cluster,
      node,
      gpuModel,
      instanceType,
      region,
      zone,
      pool,
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
      chargeDay: day,
      chargePeriod: day.slice(0, 7),
      billingPeriod: charge.billingPeriod,
      unpriced: costs === undefined ? "true" : "",
      ...Object.fromEntries(labels),
    },
    gpuHours,
    cost: costs?.effective,
    millijoules,
    carbon,
  };
}
