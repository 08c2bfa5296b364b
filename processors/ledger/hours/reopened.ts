import type { StoreClient } from "../../../runtime/store/client.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { Span } from "../plan/node-record.ts";
import type { WindowOfCluster } from "./schedule.ts";

/** A discovery of a metered hour about a span with other hours. */
export interface Discovery extends Span {
  /** The identity of a proven holder; absent if the hour has shown a GPU. */
  readonly proof?: string;
}

/** An hour that was metered, with what it has found out. */
export interface Found extends WindowOfCluster {
  readonly discovered: readonly Discovery[];
}

/**
 * Returns the hours of a cluster with published usage that must be metered again because of what hours have found out that were metered at
 * the same time, in order. An hour among them has read the same samples, so only a proof that is not its own is new to it. Fails with a
 * `StoreError`.
 */
export async function reopenedBy(store: StoreClient, found: readonly Found[]): Promise<readonly WindowOfCluster[]> {
  if (found.every(({ discovered }) => discovered.length === 0)) return [];
  const { cluster } = found[0]!;
  const rows = await store.query<WindowOfCluster>(
    `SELECT DISTINCT cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart FROM runs
     WHERE kind = 'usage' AND cluster = {cluster:String} ORDER BY windowStart`,
    { cluster },
  );
  const proofs = new Map(
    found.map(({ windowStart, discovered }) => [windowStart, new Set(discovered.map(({ proof }) => proof))]),
  );
  const isNews = (windowStart: number, proof: string | undefined): boolean => {
    const own = proofs.get(windowStart);
    return own === undefined || (proof !== undefined && !own.has(proof));
  };
  const all = found.flatMap(({ discovered }) => discovered);
  return rows.filter(({ windowStart }) =>
    all.some(
      ({ from, until, proof }) => windowStart < until && from < windowStart + HOUR_MILLIS && isNews(windowStart, proof),
    ),
  );
}
