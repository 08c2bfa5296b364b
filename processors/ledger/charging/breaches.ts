import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import type { Breach } from "../charge/invariant.ts";
import type { WindowOfCluster } from "../hours/schedule.ts";

/**
 * Stores the breaches of a window, so that a close can name them. A breach that was found before is stored once. Fails with a `StoreError`.
 */
export async function keepBreaches(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  breaches: readonly Breach[],
  foundAt: number,
): Promise<void> {
  await insertRecords(
    store,
    "breaches",
    breaches.map((breach) => ({
      cluster,
      window_start: windowStart / 1000,
      ...breach,
      found_at: new Date(foundAt).toISOString(),
    })),
  );
}

/** A current breach: no run of its hour was published after it. */
export interface StandingBreach extends Breach, WindowOfCluster {}

/** Returns the current breaches of hours within a span, oldest hour first. Fails with a `StoreError`. */
export async function standingBreaches(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly StandingBreach[]> {
  return store.query<StandingBreach>(
    `SELECT cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart, policy, node, slot, what, expected, found
     FROM breaches FINAL
     LEFT JOIN (
       SELECT cluster, window_start, max(published_at) AS charged_at FROM runs
       WHERE kind IN ('charge', 'correction') GROUP BY cluster, window_start
     ) AS charged USING (cluster, window_start)
     WHERE window_start >= fromUnixTimestamp({from:Int64}) AND window_start < fromUnixTimestamp({until:Int64})
       AND found_at > charged_at
     ORDER BY window_start, cluster, node, slot, policy, what`,
    { from: Math.floor(from / 1000), until: Math.ceil(until / 1000) },
  );
}
