import type { Policy } from "../../../domain/policy/policy.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { spreadCharges } from "../charge/spread-charges.ts";
import type { BookedCharge } from "../../../runtime/store/schema/charges.ts";
import { chargeOf, SELECTED_CHARGES, type ChargeRow } from "../closed/charge-rows.ts";

/**
 * Reads the published charges of a policy that begin within a span, milliseconds since the epoch, of all clusters, sorted by time, node and
 * slot. Corrections are included, in whatever period they are booked. Charges that the policy spreads over days or the period are spread
 * over the span, which should be whole days or the period. Fails with a `StoreError`.
 */
export async function readCharges(
  store: StoreClient,
  { name, spread }: Pick<Policy, "name" | "spread">,
  span: { readonly from: number; readonly until: number },
): Promise<readonly BookedCharge[]> {
  const rows = await store.query<ChargeRow>(
    `SELECT ${SELECTED_CHARGES} FROM charges_published
     WHERE policy = {policy:String}
       AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
     ORDER BY from_at, cluster, node, slot`,
    { policy: name, ...span },
  );
  // A spread charge stays in its billing period.
  return spreadCharges(rows.map(chargeOf), spread).charges as readonly BookedCharge[];
}
