import type { StoreClient } from "../../../runtime/store/client.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

/**
 * Drops the rows of invalid closes one day after they began: closes that a crash ended, closes that came second, and dry runs. Their rows
 * in `closings` stay as a record. Returns the number of dropped closes. Fails with a `StoreError`.
 */
export async function dropAbandonedCloses(store: StoreClient, nowMillis: number): Promise<number> {
  const abandoned = await store.query<{ close: string; month: string }>(
    `SELECT toString(close_id) AS close, toString(toYYYYMM(any(billing_period))) AS month FROM closed_runs
     WHERE close_id NOT IN (SELECT close_id FROM closed_periods)
     GROUP BY close_id
     HAVING max(frozen_at) < fromUnixTimestamp64Milli({before:Int64})`,
    { before: nowMillis - DAY_MILLIS },
  );
  for (const { close, month } of abandoned) {
    await store.command(`DELETE FROM charges IN PARTITION ${month} WHERE run_id = toUUID({close:String})`, { close });
    await store.command("DELETE FROM statements WHERE close_id = toUUID({close:String})", { close });
    // Deleted last, because the abandoned closes are found by these rows.
    await store.command("DELETE FROM closed_runs WHERE close_id = toUUID({close:String})", { close });
  }
  return abandoned.length;
}
