import { periodOf } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { VALID_CLOSINGS } from "./invoiced.ts";
import { momentOf } from "./moment.ts";
import type { ReferenceQuestion, ReferenceRows } from "./reference-rows.ts";
import type { FocusSetting } from "./setting.ts";

const KINDS = {
  BillingPeriodCreated: "time",
  BillingPeriodEnd: "time",
  BillingPeriodLastUpdated: "time",
  BillingPeriodStart: "time",
  BillingPeriodStatus: "text",
  InvoiceIssuerName: "text",
} as const;

const MONTH = "toFloat64(toUnixTimestamp(toDateTime(billing_period, 'UTC'))) * 1000 AS from";
const BOOKED = `SELECT DISTINCT ${MONTH} FROM charge_runs`;
const CLOSED = `SELECT ${MONTH}, toFloat64(toUnixTimestamp(closed_at)) * 1000 AS closedAt FROM ${VALID_CLOSINGS}`;

/**
 * Reads the billing periods with bookings, and the running one, oldest first. A row is created with the first moment of its month, and
 * changes once: when the month is closed. Fails with a `StoreError`.
 */
export async function readBillingPeriods(
  store: Pick<StoreClient, "query">,
  { period: asked, now }: Pick<ReferenceQuestion, "period" | "now">,
  { invoiceIssuer, serviceProvider }: Pick<FocusSetting, "invoiceIssuer" | "serviceProvider">,
): Promise<ReferenceRows> {
  const [booked, closed] = await Promise.all([
    store.query<{ readonly from: number }>(BOOKED),
    store.query<{ readonly from: number; readonly closedAt: number }>(CLOSED),
  ]);
  const closedAt = new Map(closed.map((closing) => [closing.from, closing.closedAt]));
  const months = new Set([...booked.map(({ from }) => from), ...closedAt.keys(), periodOf(now).from]);
  const rows = [...months]
    .filter((from) => asked === undefined || from === asked.from)
    .toSorted((a, b) => a - b)
    .map((from) => ({
      BillingPeriodCreated: momentOf(from),
      BillingPeriodEnd: momentOf(periodOf(from).until),
      BillingPeriodLastUpdated: momentOf(closedAt.get(from) ?? from),
      BillingPeriodStart: momentOf(from),
      BillingPeriodStatus: closedAt.has(from) ? "Closed" : "Open",
      InvoiceIssuerName: invoiceIssuer ?? serviceProvider,
    }));
  return { kinds: KINDS, rows, sums: {} };
}
