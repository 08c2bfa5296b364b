import type { StoreClient } from "../../runtime/store/client.ts";
import type { FocusSetting } from "./setting.ts";

/** SQL of the valid closings. */
export const VALID_CLOSINGS = `closings
WHERE kind = 'close' AND (billing_period, close_id) IN (SELECT billing_period, close_id FROM closed_periods)`;

const INVOICED = `
SELECT toFloat64(toUnixTimestamp(toDateTime(billing_period, 'UTC'))) * 1000 AS from FROM ${VALID_CLOSINGS}
  AND policy = {policy:String}`;

/**
 * Adds the periods whose statements are invoices of the setting's policy: the closed ones, if the configuration has an issuer of invoices.
 * 1.3 has none. Fails with a `StoreError`.
 */
export async function withInvoices(store: StoreClient, setting: FocusSetting): Promise<FocusSetting> {
  if (setting.version === "1.3" || setting.invoiceIssuer === undefined) return setting;
  const closed = await store.query<{ readonly from: number }>(INVOICED, { policy: setting.policy });
  return { ...setting, invoiced: new Set(closed.map(({ from }) => from)) };
}
