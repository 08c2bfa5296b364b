import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { FACT_ORDER } from "../../../runtime/store/schema/facts.ts";
import { clusterRecordOf, type ClusterRecord } from "../plan/cluster-record.ts";
import type { Span } from "../plan/node-record.ts";

const FACTS = `
SELECT fact, toUnixTimestamp64Milli(max(at) OVER (
  PARTITION BY kind, uid, epoch ORDER BY version, ended, seen_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS valid_from
FROM cluster_facts FINAL
WHERE cluster = {cluster:String} AND (kind = 'Namespace' OR uid IN (
  SELECT uid FROM cluster_facts WHERE cluster = {cluster:String} AND kind IN ('ResourceClaim', 'ResourceSlice', 'DeviceTaintRule')
  GROUP BY uid HAVING NOT max(ended) OR max(at) >= fromUnixTimestamp64Milli({from:Int64})))
ORDER BY kind, ${FACT_ORDER}, uid`;

/** Reads the namespaces, claims, slices and taints of a cluster that a span needs. Fails with a `StoreError`. */
export async function readCluster(store: StoreClient, cluster: string, { from }: Span): Promise<ClusterRecord> {
  const rows = await store.query<{ fact: string; valid_from: string }>(FACTS, { cluster, from });
  return clusterRecordOf(
    rows.map(({ fact, valid_from }) => ({ fact: JSON.parse(fact) as ClusterFact, from: Number(valid_from) })),
  );
}
