import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun, RUN_ORDER } from "../../../runtime/store/schema/runs.ts";
import { FLEET } from "../../../domain/charge/fleet.ts";
import type { LedgerRules } from "../charging/rules.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";

/** An hour whose charges are missing, or were computed from other usage or other rules than the current ones. */
export interface StaleWindow extends WindowOfCluster {
  readonly usageRun: string;
  /** The run of the hour's serving; empty if nothing served. */
  readonly servingRun: string;
  /** The run of the hour's costs of exports; empty if there are none. */
  readonly invoiceRun: string;
}

type StaleRules = Pick<LedgerRules, "hash" | "booksHash" | "hasFleetCosts" | "isListPriced" | "hasInvoices">;

/**
 * Returns the hours of a span with stale charges, newest first. In open periods, charges are stale if usage or any rule changed. In closed
 * periods, if usage, prices or owners changed, because the policies of closed periods are frozen; never with list prices. Costs of no cluster ({@link FLEET})
 * depend on the usage of all clusters. Charges are stale as well if engines were metered again. Fails with a `StoreError`.
 */
export async function staleCharges(
  store: StoreClient,
  { hash, booksHash, hasFleetCosts: isOfFleet, isListPriced, hasInvoices }: StaleRules,
  { from, until = Infinity, openSince }: { readonly from: number; readonly until?: number; readonly openSince: number },
): Promise<readonly StaleWindow[]> {
  const seconds = (millis: number): number => Math.min(Math.max(Math.floor(millis / 1000), 0), LATEST_SECONDS);
  const spanned = "window_start >= fromUnixTimestamp({from:Int64}) AND window_start < fromUnixTimestamp({until:Int64})";
  return store.query<StaleWindow>(
    `WITH metered AS (
       SELECT cluster, window_start AS start, ${ofLastRun("toString(run_id)")} AS usage_run
       FROM runs WHERE kind = 'usage' AND ${spanned} GROUP BY cluster, start
     ),
     served AS (
       SELECT toString(cluster) AS cluster, window_start AS start, ${ofLastRun("toString(run_id)")} AS serving_run
       FROM runs WHERE kind = 'serving' AND ${spanned} GROUP BY cluster, start
     ),
     invoiced AS (
       SELECT toString(cluster) AS cluster, window_start AS start, ${ofLastRun("toString(run_id)")} AS invoice_run
       FROM runs WHERE kind = 'invoice' AND {invoices:Bool} AND ${spanned} GROUP BY cluster, start
     ),
     invoiced_of AS (
       SELECT cluster, start, invoice_run FROM invoiced WHERE cluster != '${FLEET}'
       UNION ALL
       SELECT '${FLEET}', start, ${hashOf("invoice_run")} FROM invoiced GROUP BY start
     )
     SELECT cluster, toFloat64(toUnixTimestamp(start)) * 1000 AS windowStart, usage_run AS usageRun, serving_run AS servingRun,
       invoice_run AS invoiceRun
     FROM (
       SELECT toString(cluster) AS cluster, start, usage_run FROM metered
       UNION ALL
       SELECT '${FLEET}', start, ${hashOf("usage_run")}
       FROM metered
       WHERE {fleet:Bool} OR start IN (SELECT window_start FROM runs WHERE kind = 'charge' AND cluster = '${FLEET}')
       GROUP BY start
     ) AS usage
     LEFT JOIN (
       SELECT toString(cluster) AS cluster, window_start AS start,
         splitByChar(' ', argMax(basis, (kind = 'correction', billing_period, ${RUN_ORDER}))) AS made_of
       FROM runs
       WHERE kind IN ('charge', 'correction') AND ${spanned} AND run_id IN (SELECT run_id FROM charge_runs)
       GROUP BY cluster, start
     ) AS charge USING (cluster, start)
     LEFT JOIN served USING (cluster, start)
     LEFT JOIN invoiced_of USING (cluster, start)
     WHERE made_of[1] != usage_run OR made_of[4] != serving_run OR made_of[5] != invoice_run
       OR (start >= fromUnixTimestamp({open:Int64}) AND made_of[2] != {hash:String})
       OR (start < fromUnixTimestamp({open:Int64}) AND made_of[3] != {books:String})
     ORDER BY start DESC`,
    {
      hash,
      books: booksHash,
      from: seconds(isListPriced ? Math.max(from, openSince) : from),
      until: seconds(until),
      open: seconds(openSince),
      fleet: isOfFleet,
      invoices: hasInvoices,
    },
  );
}

/** Returns an aggregate over the runs of all clusters: a name that is the same for the same runs. */
function hashOf(run: string): string {
  return `toString(reinterpretAsUUID(sipHash128(arrayStringConcat(arraySort(groupArray(${run}))))))`;
}

/** The latest moment of a `DateTime`, in seconds. */
const LATEST_SECONDS = 4_294_967_295;
