import { holdingOf } from "../../../domain/holding.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofNewestFact } from "../../../runtime/store/schema/facts.ts";
import type { Span } from "../plan/node-record.ts";

/** A pod of a workload that serves. Times are milliseconds since the epoch, within the span. */
export interface ServedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly workloadKind: string;
  readonly workload: string;
  /** The gang of the pod; empty without one. */
  readonly gang: string;
  /** When the pod's first container ran. */
  readonly from: number;
  /** When the pod was ready for the first time; the end of its time if it never was. */
  readonly readyAt: number;
  readonly until: number;
}

/** Selects the newest fact of each bound pod of the workloads of some pods, which are named by UID, or by namespace and name. */
const PODS = `
WITH named AS (
  SELECT DISTINCT namespace, workload_kind, workload FROM workload_facts
  WHERE cluster = {cluster:String} AND (uid IN {uids:Array(String)} OR concat(namespace, '/', pod) IN {names:Array(String)})
)
SELECT ${ofNewestFact("fact")} AS newest
FROM workload_facts
WHERE cluster = {cluster:String} AND (namespace, workload_kind, workload) IN named AND node != ''
GROUP BY uid
HAVING NOT max(ended) OR maxIf(at, ended) > fromUnixTimestamp64Milli({from:Int64})`;

/**
 * Reads the pods of the workloads that some pages belong to, as far as they ran within the span, sorted by UID. Pods without a page are
 * included. Pods that hold no GPU have no facts. Fails with a `StoreError`.
 */
export async function readServedPods(
  store: StoreClient,
  cluster: string,
  pages: readonly { readonly namespace: string; readonly pod: string; readonly podUid: string }[],
  span: Span,
): Promise<readonly ServedPod[]> {
  const uids = pages.map(({ podUid }) => podUid).filter((uid) => uid !== "");
  const names = pages
    .filter(({ podUid, pod }) => podUid === "" && pod !== "")
    .map(({ namespace, pod }) => `${namespace}/${pod}`);
  if (uids.length + names.length === 0) return [];
  const rows = await store.query<{ newest: string }>(PODS, { cluster, uids, names, from: span.from });
  return rows
    .flatMap(({ newest }) => servedPod(JSON.parse(newest) as WorkloadFact, span) ?? [])
    .sort((a, b) => (a.uid < b.uid ? -1 : 1));
}

function servedPod(fact: WorkloadFact, span: Span): ServedPod | undefined {
  const holding = holdingOf(fact);
  const { started = Infinity, ready = Infinity } = fact.times;
  if (holding === undefined) return undefined;
  const [from, until] = [Math.max(started, span.from), Math.min(holding.until, span.until)];
  if (from >= until) return undefined;
  return {
    uid: fact.uid,
    namespace: fact.namespace,
    name: fact.name,
    workloadKind: fact.workload.kind,
    workload: fact.workload.name,
    gang: fact.gang === undefined ? "" : `${fact.gang.kind}/${fact.gang.name}`,
    from,
    readyAt: Math.min(Math.max(ready, from), until),
    until,
  };
}
