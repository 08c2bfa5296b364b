import { FOCUS_VERSIONS, type FocusVersion } from "../../domain/focus-version.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readDelivered, type DeliveryDetails, type Occasion } from "./records.ts";

/**
 * Returns the version of FOCUS in which a period of a delivery was delivered to any recipient; undefined if it was not delivered as FOCUS.
 * Fails with a `StoreError`.
 */
export async function deliveredVersion(
  store: StoreClient,
  occasion: Pick<Occasion, "delivery" | "from" | "until">,
): Promise<FocusVersion | undefined> {
  const delivered = await readDelivered(store, occasion);
  return delivered.flatMap((details) => versionIn(details) ?? [])[0];
}

/** A record of a release before 1.4 has no version: if its file was FOCUS, the file was 1.3. Other files have null. */
function versionIn({ focusVersion = "1.3" }: DeliveryDetails): FocusVersion | undefined {
  return FOCUS_VERSIONS.find((version) => version === focusVersion);
}
