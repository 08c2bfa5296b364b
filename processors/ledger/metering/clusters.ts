import type { StoreClient } from "../../../runtime/store/client.ts";

/** Returns the clusters with published usage in a span of whole hours, sorted. Fails with a `StoreError`. */
export async function clustersWithUsage(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly string[]> {
  const rows = await store.query<{ cluster: string }>(
    `SELECT DISTINCT toString(cluster) AS cluster FROM runs
     WHERE kind = 'usage' AND window_start >= fromUnixTimestamp({from:Int64}) AND window_start < fromUnixTimestamp({until:Int64})
     ORDER BY cluster`,
    { from: from / 1000, until: until / 1000 },
  );
  return rows.map(({ cluster }) => cluster);
}
