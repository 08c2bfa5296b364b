import type { ChargeState } from "../../domain/charge/charge.ts";
import { halfEvenQuotient } from "../../domain/exact/integer.ts";
import { LAST_UNITS_IN_ONE, lastUnits, type Amount, type Quantity } from "../../domain/exact/units.ts";
import { EXACT_HOUR_MILLIS } from "../../domain/time.ts";
import type { Part } from "./part.ts";

/** The kind of a charge: a GPU's time, a node's beside its GPUs, a commitment's, or a change of other costs. */
export type FocusSubject = "gpu" | "node" | "commitment" | "adjustment";

/** Returns the subject of a line by its state. */
export function subjectOf({ state }: { readonly state: ChargeState }): FocusSubject {
  switch (state) {
    case "active":
    case "idle":
    case "waiting":
    case "starting":
    case "unobserved":
    case "unavailable":
    case "stranded":
    case "unallocated":
      return "gpu";
    case "non-gpu":
      return "node";
    case "unused commitment":
      return "commitment";
    case "markup":
    case "true-up":
    case "invoice":
      return "adjustment";
  }
}

/** The unit of a part for FOCUS, and its quantity in 10⁻⁹ of the unit. */
export interface Measure {
  readonly unit: "GPU-Hours" | "Node-Hours" | "Hours" | "Tokens";
  readonly quantity: Amount<Quantity>;
}

/**
 * Returns the measure to which a part's price applies: GPU-hours; the node's hours for a node's cost beside its GPUs; the commitment's
 * hours for an unused commitment; tokens where they have a meter of their own. Corrections do not change the hours of nodes and commitments. Undefined for adjustments, which have no price.
 */
export function measureOf(part: Pick<Part, "origin" | "state" | "gpuHours" | "millis" | "work">): Measure | undefined {
  if (part.origin.meter !== undefined)
    return { unit: "Tokens", quantity: lastUnits(BigInt(part.work?.counts.cachedTokens ?? 0) * LAST_UNITS_IN_ONE) };
  switch (subjectOf(part)) {
    case "gpu":
      return { unit: "GPU-Hours", quantity: part.gpuHours };
    case "node":
      return { unit: "Node-Hours", quantity: hours(part) };
    case "commitment":
      return { unit: "Hours", quantity: hours(part) };
    case "adjustment":
      return undefined;
  }
}

function hours({ origin, millis }: Pick<Part, "origin" | "millis">): Amount<Quantity> {
  return lastUnits(origin.isCorrection ? 0n : halfEvenQuotient(BigInt(millis) * LAST_UNITS_IN_ONE, EXACT_HOUR_MILLIS));
}
