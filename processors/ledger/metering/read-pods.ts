import { holdingOf, type Holding } from "../../../domain/holding.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { ofNewestFact } from "../../../runtime/store/schema/facts.ts";
import type { RecordedPod } from "../plan/node-record.ts";
import { recordedPod } from "../plan/recorded-pod.ts";
import type { AskedNodes } from "./read-machines.ts";

/** Later than any fact, in milliseconds since the epoch. */
const NEVER = Date.UTC(2299, 11, 31);

const NEWEST = `${ofNewestFact("fact")} AS newest`;

/** Selects the newest fact of every pod that was ever bound to one of the nodes, since when, and when it had finished or was gone. */
const BOUND = `
SELECT ${NEWEST},
  toFloat64(toUnixTimestamp64Milli(minIf(ifNull(scheduled_at, created_at), node IN {nodes:Array(String)}))) AS bound,
  ifNull(toFloat64(toUnixTimestamp64Milli(${ofNewestFact("finished_at")})), ${NEVER}) AS finished,
  if(max(ended), toFloat64(toUnixTimestamp64Milli(maxIf(at, ended))), ${NEVER}) AS gone
FROM workload_facts
WHERE cluster = {cluster:String} AND uid IN (
  SELECT uid FROM workload_facts
  WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)}
    AND ifNull(scheduled_at, created_at) < fromUnixTimestamp64Milli({until:Int64})
)
GROUP BY uid
HAVING finished > {from:Int64} AND gone > {from:Int64}`;

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

/** Reads the pods that hold a part of the nodes within their spans. Fails with a `StoreError`. */
export async function readPods(store: StoreClient, all: readonly AskedNodes[]): Promise<readonly PodsOfNodes[]> {
  const { cluster } = all[0]!;
  const rows = await store.query<BoundRow>(BOUND, {
    cluster,
    nodes: [...new Set(all.flatMap(({ nodes }) => nodes))],
    from: Math.min(...all.map(({ span }) => span.from)),
    until: Math.max(...all.map(({ span }) => span.until)),
  });
  const bound = rows.flatMap((row) => {
    const fact = JSON.parse(row.newest) as WorkloadFact;
    const holding = holdingOf(fact);
    return holding === undefined ? [] : [{ ...row, fact, holding }];
  });
  const gangs = [...new Set(bound.flatMap(({ fact }) => gangOf(fact) ?? []))];
  const members = groupedBy(gangs.length === 0 ? [] : await factsOf(store, MEMBERS, { cluster, gangs }), (fact) =>
    gangOf(fact)!,
  );
  const pods = bound.map(({ fact, holding, ...row }) => {
    const gang = gangOf(fact);
    return { ...row, holding, pod: recordedPod(fact, holding, gang === undefined ? [] : (members.get(gang) ?? [])) };
  });
  return all.map(({ nodes, span: { from, until } }) => {
    const byNode = new Map<string, Map<string, RecordedPod>>(nodes.map((node) => [node, new Map()]));
    for (const { bound: since, finished, gone, holding, pod } of pods) {
      const isThere = since < until && finished > from && gone > from && holding.from < until && holding.until > from;
      if (isThere) byNode.get(holding.node)?.set(holding.uid, pod);
    }
    return byNode;
  });
}

interface BoundRow {
  readonly newest: string;
  readonly bound: number;
  readonly finished: number;
  readonly gone: number;
}

/** Returns the gang of a pod as `namespace/gang`. */
function gangOf({ namespace, gang }: WorkloadFact): string | undefined {
  return gang === undefined ? undefined : `${namespace}/${gang.name}`;
}

/** Reads the bound pods with some names, `namespace/pod`, with past pods. Fails with a `StoreError`. */
export async function readNamesakes(
  store: StoreClient,
  cluster: string,
  names: readonly string[],
): Promise<readonly Holding[]> {
  return names.length === 0 ? [] : together(store, namesakes, { cluster, names });
}

async function namesakes(
  store: StoreClient,
  all: readonly { readonly cluster: string; readonly names: readonly string[] }[],
): Promise<readonly (readonly Holding[])[]> {
  const names = [...new Set(all.flatMap((asked) => asked.names))];
  const facts = await factsOf(store, NAMESAKES, { cluster: all[0]!.cluster, names });
  const byName = groupedBy(
    facts.flatMap((fact) => holdingOf(fact) ?? []),
    ({ namespace, name }) => `${namespace}/${name}`,
  );
  return all.map((asked) => asked.names.flatMap((name) => byName.get(name) ?? []));
}

async function factsOf(
  store: StoreClient,
  sql: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<readonly WorkloadFact[]> {
  const rows = await store.query<{ newest: string }>(sql, parameters);
  return rows.map(({ newest }) => JSON.parse(newest) as WorkloadFact);
}
