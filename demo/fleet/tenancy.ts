import type { Slot } from "./node.ts";
import { inferenceTenancy } from "./services.ts";
import { notebookTenancy } from "./notebooks.ts";
import { residentTenancy } from "./residents.ts";
import { nobody, spanAt, type Tenancy } from "./span.ts";
import { trainingTenancy } from "./training.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

/**
 * Returns the holder of a slot at a time. It is computed, not simulated: hashes divide time into spans, so that every moment has the same
 * cost. A slot has one result, so that no two pods ever share one.
 */
export function tenancyAt(slot: Slot, timeMillis: number): Tenancy {
  if (slot.resident !== undefined) return residentTenancy(slot, slot.resident, timeMillis);
  switch (slot.use) {
    case "training":
      return trainingTenancy(slot, timeMillis);
    case "inference":
      return inferenceTenancy(slot, timeMillis);
    case "notebook":
      return notebookTenancy(slot, timeMillis);
    case "spare":
      return spareTenancy(slot, timeMillis);
  }
}

function spareTenancy({ key }: Slot, timeMillis: number): Tenancy {
  const { fromMillis, untilMillis } = spanAt(key, timeMillis, [{ lengthMillis: 28 * DAY_MILLIS, chance: 1 }]);
  return nobody(fromMillis, untilMillis);
}
