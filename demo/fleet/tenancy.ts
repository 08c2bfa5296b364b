import type { Slot } from "./node.ts";
import { inferenceTenancy } from "./services.ts";
import { notebookTenancy } from "./notebooks.ts";
import type { Tenancy } from "./span.ts";
import { trainingTenancy } from "./training.ts";

/**
 * Returns the holder of a slot at a time. It is computed, not simulated: hashes divide time into spans, so that every moment has the same
 * cost. A slot has one result, so that no two pods ever share one.
 */
export function tenancyAt(slot: Slot, timeMillis: number): Tenancy {
  switch (slot.use) {
    case "training":
      return trainingTenancy(slot, timeMillis);
    case "inference":
      return inferenceTenancy(slot, timeMillis);
    case "notebook":
      return notebookTenancy(slot, timeMillis);
  }
}
