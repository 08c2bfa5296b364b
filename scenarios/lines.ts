import type { BookedCharge } from "../runtime/store/schema/charges.ts";
import { HOLDER_DIMENSIONS, MACHINE_DIMENSIONS } from "../domain/charge/dimension.ts";
import { sum } from "../domain/exact/units.ts";
import { DIMENSIONS } from "../domain/owner/owner.ts";
import { dateText } from "../domain/period.ts";
import type { Bill, BillLine } from "./bill.ts";

/** A booked charge of any policy. */
type BilledCharge = Omit<BookedCharge, "policy">;

/** Returns charges as a scenario's bill. Corrections of closed periods are separate, and not in its total. */
export function billOf(charges: readonly BilledCharge[]): Bill {
  const own = charges.filter(({ corrects }) => corrects === "");
  const corrections = charges.filter(({ corrects }) => corrects !== "");
  return {
    lines: own.map(lineOf),
    total: sum(own.flatMap(({ costs }) => costs?.effective ?? [])),
    ...(corrections.length === 0 ? {} : { corrections: corrections.map(lineOf) }),
  };
}

/** Returns a charge with its dimensions under the names of `scenarios.md`. */
function lineOf(charge: BilledCharge): BillLine {
  const { holder, slot, costs, gpuHours, millijoules, carbon, fromMillis } = charge;
  const { cluster, node, state, because, payer } = charge;
  const day = dateText(fromMillis);
  const labels = Object.entries(holder?.labels ?? {}).map(([name, value]) => [`label.${name}`, value] as const);
  return {
    dimensions: {
      ...valuesOf(DIMENSIONS, charge),
      payer,
      cluster,
      node,
      ...valuesOf(MACHINE_DIMENSIONS, charge),
      state,
      because,
      gpu: slot === undefined ? "" : String(slot),
      ...valuesOf(HOLDER_DIMENSIONS, holder),
      attribution: holder?.attribution ?? "",
      chargeDay: day,
      chargePeriod: day.slice(0, 7),
      billingPeriod: dateText(charge.billingPeriod).slice(0, 7),
      unpriced: costs === undefined ? "true" : "",
      ...Object.fromEntries(labels),
    },
    gpuHours,
    cost: costs?.effective,
    millijoules,
    carbon,
  };
}

/** Returns the values of some dimensions, empty without a holder. */
function valuesOf<Name extends string>(
  names: readonly Name[],
  of: Readonly<Record<Name, string>> | undefined,
): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, of?.[name] ?? ""]));
}
