import { holdingOf, type Holding } from "../../../domain/holding.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofNewestFact } from "../../../runtime/store/schema/facts.ts";
import type { RecordedPod, Span } from "../plan/node-record.ts";
import { recordedPod } from "../plan/recorded-pod.ts";

const NEWEST = `${ofNewestFact("fact")} AS newest`;

/** Selects the newest fact of every pod that was ever bound to one of the nodes and had not ended at the start of the span. */
const BOUND = `
SELECT ${NEWEST}
FROM workload_facts
WHERE cluster = {cluster:String} AND uid IN (
  SELECT uid FROM workload_facts
  WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)}
    AND ifNull(scheduled_at, created_at) < fromUnixTimestamp64Milli({until:Int64})
)
GROUP BY uid
HAVING ifNull(${ofNewestFact("finished_at")}, toDateTime64('2299-12-31 00:00:00', 3, 'UTC'))
    > fromUnixTimestamp64Milli({from:Int64})
  AND (NOT max(ended) OR maxIf(at, ended) > fromUnixTimestamp64Milli({from:Int64}))`;

/** Selects the newest fact of every pod of some gangs, on any node. */
const MEMBERS = `
SELECT ${NEWEST}
FROM workload_facts
WHERE cluster = {cluster:String} AND concat(namespace, '/', gang) IN {gangs:Array(String)}
GROUP BY uid`;

/** Selects the newest fact of every pod with some names, on any node. */
const NAMESAKES = `
SELECT ${NEWEST}
FROM workload_facts
WHERE cluster = {cluster:String} AND concat(namespace, '/', pod) IN {names:Array(String)} AND node != ''
GROUP BY uid`;

/** Pods by node and UID. */
export type PodsOfNodes = ReadonlyMap<string, ReadonlyMap<string, RecordedPod>>;

/** Reads the pods that hold a part of some nodes within a span. Fails with a `StoreError`. */
export async function readPods(
  store: StoreClient,
  cluster: string,
  nodes: readonly string[],
  span: Span,
): Promise<PodsOfNodes> {
  const facts = await factsOf(store, BOUND, { cluster, nodes, ...span });
  const bound = facts.flatMap((fact) => {
    const holding = holdingOf(fact);
    return holding === undefined || holding.from >= span.until || holding.until <= span.from ? [] : [{ fact, holding }];
  });
  const gangs = bound.flatMap(({ fact }) => (fact.gang === undefined ? [] : [`${fact.namespace}/${fact.gang.name}`]));
  const members = gangs.length === 0 ? [] : await factsOf(store, MEMBERS, { cluster, gangs });
  const byNode = new Map<string, Map<string, RecordedPod>>(nodes.map((node) => [node, new Map()]));
  for (const { fact, holding } of bound) {
    byNode.get(holding.node)?.set(fact.uid, recordedPod(fact, holding, members));
  }
  return byNode;
}

/** Reads the bound pods with some names, `namespace/pod`, with past pods. Fails with a `StoreError`. */
export async function readNamesakes(
  store: StoreClient,
  cluster: string,
  names: readonly string[],
): Promise<readonly Holding[]> {
  if (names.length === 0) return [];
  const facts = await factsOf(store, NAMESAKES, { cluster, names });
  return facts.flatMap((fact) => holdingOf(fact) ?? []);
}

async function factsOf(
  store: StoreClient,
  sql: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<readonly WorkloadFact[]> {
  const rows = await store.query<{ newest: string }>(sql, parameters);
  return rows.map(({ newest }) => JSON.parse(newest) as WorkloadFact);
}
