import type { StoreClient } from "./client.ts";
import { sqlIdentifier } from "./sql-tokens.ts";

/** Empties every table of the database except the list of its migrations. Fails with a `StoreError`. */
export async function emptyTables(store: StoreClient): Promise<void> {
  const filled = await store.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0 AND name != 'migrations'",
  );
  for (const { name } of filled) await store.command(`TRUNCATE TABLE ${sqlIdentifier(name)} SYNC`);
}
