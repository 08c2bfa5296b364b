import type { Findings } from "../metering/findings.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";

/**
 * Returns the hours of a cluster with published usage that must be metered again because of what hours have found out that were metered at
 * the same time, in order. An hour among them has read the same samples, so only a proof that it has not used is new to it. Fails with a
 * `StoreError`.
 */
export async function reopenedBy(
  store: StoreClient,
  found: readonly (WindowOfCluster & Findings)[],
): Promise<readonly WindowOfCluster[]> {
  if (found.every(({ discovered }) => discovered.length === 0)) return [];
  const { cluster } = found[0]!;
  const rows = await store.query<WindowOfCluster>(
    `SELECT DISTINCT cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart FROM runs
     WHERE kind = 'usage' AND cluster = {cluster:String} ORDER BY windowStart`,
    { cluster },
  );
  const used = new Map(found.map(({ windowStart, proofs }) => [windowStart, proofs]));
  const isNews = (windowStart: number, proof: string | undefined): boolean => {
    const known = used.get(windowStart);
    return known === undefined || (proof !== undefined && !known.has(proof));
  };
  const all = found.flatMap(({ discovered }) => discovered);
  return rows.filter(({ windowStart }) =>
    all.some(
      ({ from, until, proof }) => windowStart < until && from < windowStart + HOUR_MILLIS && isNews(windowStart, proof),
    ),
  );
}
