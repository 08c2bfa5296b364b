import type { Slot } from "./node.ts";
import { inferenceTenancy } from "./services.ts";
import { notebookTenancy } from "./notebooks.ts";
import type { Tenancy } from "./span.ts";
import { trainingTenancy } from "./training.ts";

/**
 * Who holds a slot at a time. It is looked up, not simulated: time is cut into spans by hashing, so that any moment is
 * as cheap as any other. A slot has one answer, so that no two pods ever share one.
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
