import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { FACT_ORDER } from "../../../runtime/store/schema/facts.ts";
import { clusterRecordOf, type ClusterRecord } from "../plan/cluster-record.ts";
import type { Span } from "../plan/node-record.ts";

/** Selects the namespaces, and the other objects with all their facts that were there at a time or later, with their ends. */
const FACTS = `
SELECT fact, kind = 'Namespace' OR NOT max(ended) OVER object AS stays, toUnixTimestamp64Milli(max(at) OVER object) AS last,
  toUnixTimestamp64Milli(max(at) OVER (
    PARTITION BY kind, uid, epoch ORDER BY version, ended, seen_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS valid_from
FROM cluster_facts FINAL
WHERE cluster = {cluster:String} AND (kind = 'Namespace' OR uid IN (
  SELECT uid FROM cluster_facts WHERE cluster = {cluster:String} AND kind IN ('ResourceClaim', 'ResourceSlice', 'DeviceTaintRule')
  GROUP BY uid HAVING NOT max(ended) OR max(at) >= fromUnixTimestamp64Milli({from:Int64})))
WINDOW object AS (PARTITION BY uid)
ORDER BY kind, ${FACT_ORDER}, uid`;

interface FactRow {
  readonly fact: string;
  readonly stays: boolean;
  readonly last: string;
  readonly valid_from: string;
}

/** Reads the namespaces, claims, slices and taints of a cluster that a span needs. Fails with a `StoreError`. */
export function readCluster(store: StoreClient, cluster: string, { from }: Span): Promise<ClusterRecord> {
  return together(store, readClusters, { cluster, from });
}

async function readClusters(
  store: StoreClient,
  all: readonly { readonly cluster: string; readonly from: number }[],
): Promise<readonly ClusterRecord[]> {
  const parameters = { cluster: all[0]!.cluster, from: Math.min(...all.map(({ from }) => from)) };
  const facts = (await store.query<FactRow>(FACTS, parameters)).map(({ fact, stays, last, valid_from }) => ({
    until: stays ? Infinity : Number(last),
    fact: JSON.parse(fact) as ClusterFact,
    from: Number(valid_from),
  }));
  /** Later spans need fewer objects, so spans that need as many need the same. */
  const records = new Map<number, ClusterRecord>();
  return all.map(({ from }) => {
    const needed = facts.filter(({ until }) => until >= from);
    const record = records.get(needed.length) ?? clusterRecordOf(needed);
    records.set(needed.length, record);
    return record;
  });
}
