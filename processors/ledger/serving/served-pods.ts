import { holdingOf } from "../../../domain/holding.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofNewestFact } from "../../../runtime/store/schema/facts.ts";
import { bySpan, spanParameters } from "../runs/spans-sql.ts";
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

/**
 * Selects for each span the newest fact of each bound pod of the workloads of its pods, which are named by UID, or by namespace and name.
 * Names are in the order of the spans to which they belong.
 */
const PODS = `
WITH named AS (
  SELECT DISTINCT arrayJoin(arrayConcat(
      arrayFilter((span, name) -> name = uid, {uidSpans:Array(UInt32)}, {uids:Array(String)}),
      arrayFilter((span, name) -> name = concat(namespace, '/', pod), {nameSpans:Array(UInt32)}, {names:Array(String)})
    )) AS span, namespace, workload_kind, workload
  FROM workload_facts
  WHERE cluster = {cluster:String} AND (uid IN {uids:Array(String)} OR concat(namespace, '/', pod) IN {names:Array(String)})
)
SELECT span, ${ofNewestFact("fact")} AS newest
FROM workload_facts
INNER JOIN named USING (namespace, workload_kind, workload)
WHERE cluster = {cluster:String} AND node != ''
GROUP BY span, uid
HAVING NOT max(ended) OR maxIf(at, ended) > fromUnixTimestamp64Milli({begins:Array(Int64)}[span])`;

/** The pods that some pages belong to. */
interface AskedPods {
  readonly cluster: string;
  readonly pages: readonly { readonly namespace: string; readonly pod: string; readonly podUid: string }[];
  readonly span: Span;
}

/**
 * Reads the pods of the workloads that pages belong to, as far as they ran within the span, sorted by UID. Pods without a page are
 * included. Pods that hold no GPU have no facts. Fails with a `StoreError`.
 */
export async function readServedPods(
  store: StoreClient,
  all: readonly AskedPods[],
): Promise<readonly (readonly ServedPod[])[]> {
  const uids = all.flatMap(({ pages }, index) =>
    pages.flatMap(({ podUid }) => (podUid === "" ? [] : [[index + 1, podUid] as const])),
  );
  const names = all.flatMap(({ pages }, index) =>
    pages.flatMap(({ podUid, namespace, pod }) =>
      podUid === "" && pod !== "" ? [[index + 1, `${namespace}/${pod}`] as const] : [],
    ),
  );
  if (uids.length + names.length === 0) return all.map(() => []);
  const rows = await store.query<{ span: number; newest: string }>(PODS, {
    cluster: all[0]!.cluster,
    uids: uids.map(([, uid]) => uid),
    uidSpans: uids.map(([span]) => span),
    names: names.map(([, name]) => name),
    nameSpans: names.map(([span]) => span),
    ...spanParameters(all.map(({ span }) => span)),
  });
  return bySpan(rows, all).map((ofSpan, index) =>
    ofSpan
      .flatMap(({ newest }) => servedPod(JSON.parse(newest) as WorkloadFact, all[index]!.span) ?? [])
      .toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
  );
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
