import type { StoreClient } from "../../../runtime/store/client.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

/**
 * Drops what closes have left of which nothing counts, a day after they began: those that a crash ended, those that were second, and
 * what dry runs looked at. Their rows in `closings` stay, as a record. Gives how many were dropped; fails with a `StoreError`.
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
    // Last, as it is found by these.
    await store.command("DELETE FROM closed_runs WHERE close_id = toUUID({close:String})", { close });
  }
  return abandoned.length;
}
