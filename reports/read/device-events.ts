import type { StoreClient } from "../../runtime/store/client.ts";
import { FACT_ORDER } from "../../runtime/store/schema/facts.ts";
import { momentSql } from "../question/question.ts";
import type { SampleScope } from "./sample-scope.ts";

/** Something that happened on a GPU, or to a pod. */
export interface DeviceEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: "xid" | "restart";
  readonly cluster: string;
  readonly node: string;
  /** The index of the GPU; empty for a pod. */
  readonly gpu: string;
  /** The pod in the form `namespace/pod`; empty for a GPU. */
  readonly pod: string;
  /** The XID, or the number of restarts of the pod's containers since it exists. */
  readonly count: number;
}

/** The limit of events of each kind. */
const MOST = 200;

/** SQL for the XIDs that GPUs began to show. Exporters show the last XID until the next one, so only a change counts. */
const xidsSql = (scope: string): string => `
SELECT at, 'xid' AS kind, cluster, node, gpu, '' AS pod, code AS count
FROM (
  SELECT cluster, node, gpu, toFloat64(toUnixTimestamp64Milli(scraped_at)) AS at, toUInt32(ifNull(xid_code, 0)) AS code,
    lagInFrame(toNullable(code)) OVER of_gpu AS before
  FROM gpu_samples
  WHERE ${scope} AND scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")} AND NOT repeats_gpu
    AND (cluster, node, gpu_key) IN (
      SELECT cluster, node, gpu_key FROM gpu_samples
      WHERE ${scope} AND scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")} AND xid_code > 0)
  WINDOW of_gpu AS (PARTITION BY cluster, node, gpu_key ORDER BY scraped_at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
WHERE code > 0 AND before IS NOT NULL AND code != before
ORDER BY at DESC LIMIT ${MOST}`;

/** SQL for the states of pods in which more containers had restarted than in the state before. */
const RESTARTS = `
SELECT at, 'restart' AS kind, cluster, node, '' AS gpu, concat(namespace, '/', pod) AS pod, restarts AS count
FROM (
  SELECT cluster, namespace, pod, node, toFloat64(toUnixTimestamp64Milli(at)) AS at,
    toUInt32(JSONExtractUInt(fact, 'restarts')) AS restarts, lagInFrame(toNullable(restarts)) OVER of_pod AS before
  FROM workload_facts
  WHERE concat(namespace, '/', pod) IN {pods:Array(String)} AND NOT ended
  WINDOW of_pod AS (PARTITION BY cluster, uid ORDER BY ${FACT_ORDER} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
WHERE restarts > before AND at >= {from:Int64} AND at < {until:Int64}
ORDER BY at DESC LIMIT ${MOST}`;

/** Reads the XIDs of GPUs and the restarts of pods in a time, the last one first. Fails with a `StoreError`. */
export async function readDeviceEvents(
  store: Pick<StoreClient, "query">,
  scope: SampleScope,
  { pods, ...time }: { readonly from: number; readonly until: number; readonly pods: readonly string[] },
): Promise<readonly DeviceEvent[]> {
  const [xids, restarts] = await Promise.all([
    store.query<DeviceEvent>(xidsSql(scope.samples), { ...scope.parameters, ...time }),
    pods.length === 0 ? [] : store.query<DeviceEvent>(RESTARTS, { pods, ...time }),
  ]);
  return [...xids, ...restarts].toSorted((a, b) => b.at - a.at);
}
