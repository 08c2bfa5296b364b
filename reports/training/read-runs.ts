import { readRunId, runNameOf, runsOf, type Run, type RunRules } from "../../domain/training/identity.ts";
import type { ContainerRestart } from "../../domain/training/run-pod.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { FACT_ORDER, ofNewestFact } from "../../runtime/store/schema/facts.ts";
import { momentSql } from "../question/question.ts";
import { readFacts } from "../read/newest-facts.ts";

type Store = Pick<StoreClient, "query">;

/** A time, milliseconds since the epoch, half-open. */
export interface TimeSpan {
  readonly from: number;
  readonly until: number;
}

/** The longest time from the creation of a pod to the span in which it still trains. It bounds the facts that are read. */
const MOST_MILLIS = 180 * DAY_MILLIS;

/** SQL for the workloads with a training pod in a span. A pod is in the span if it was created before its end and ended after its begin. */
const IN_SPAN = `
SELECT cluster, namespace, workload_kind, workload FROM (
  SELECT cluster, uid, any(namespace) AS namespace, any(workload_kind) AS workload_kind, any(workload) AS workload
  FROM workload_facts
  WHERE workload_type = 'training' AND created_at >= ${momentSql("since")} AND created_at < ${momentSql("until")}
  GROUP BY cluster, uid
  HAVING ifNull(${ofNewestFact("finished_at")}, toDateTime64('2299-12-31 00:00:00', 3, 'UTC')) > ${momentSql("from")}
    AND (NOT max(ended) OR maxIf(at, ended) > ${momentSql("from")}))`;

const newestOf = (where: string): string => `
SELECT ${ofNewestFact("fact")} AS fact FROM workload_facts
WHERE workload_type = 'training' AND created_at >= ${momentSql("since")} AND ${where}
GROUP BY cluster, uid`;

const OF_WORKLOADS = newestOf(`(cluster, namespace, workload_kind, workload) IN (${IN_SPAN})`);
const OF_NAME = newestOf(`cluster = {cluster:String} AND namespace = {namespace:String}
  AND ({isBelow:Bool} OR (workload_kind = {kind:String} AND workload = {name:String}))`);
const OF_KEYS = newestOf(`concat(cluster, '/', namespace) IN {namespaces:Array(String)}
  AND (JSONExtractString(workload_facts.fact, 'labels', {key:String}) IN {names:Array(String)}
    OR JSONExtractString(workload_facts.fact, 'annotations', {key:String}) IN {names:Array(String)})`);

/** SQL for the changes of the restarts and the readiness of pods. */
const RESTARTS = `
SELECT uid, toFloat64(toUnixTimestamp64Milli(min(at))) AS at, restarts, ready
FROM (
  SELECT uid, at, toUInt32(JSONExtractUInt(fact, 'restarts')) AS restarts,
    JSONExtract(fact, 'times', 'ready', 'Nullable(Float64)') AS ready
  FROM workload_facts WHERE uid IN {uids:Array(String)} AND NOT ended
  ORDER BY uid, ${FACT_ORDER})
GROUP BY uid, restarts, ready
ORDER BY uid, restarts, at`;

interface RestartRow {
  readonly uid: string;
  readonly at: number;
  readonly restarts: number;
  readonly ready: number | null;
}

/**
 * Reads the training runs that existed in a span, whole: with their pods before and after it. A run whose pods were created more than 180
 * days before the span is not found. Fails with a `StoreError`.
 */
export async function readRuns(store: Store, rules: RunRules, { from, until }: TimeSpan): Promise<readonly Run[]> {
  const since = from - MOST_MILLIS;
  const facts = await readFacts<WorkloadFact>(store, OF_WORKLOADS, { since, from, until });
  const runs = await withRestarts(store, await withKeyed(store, facts, rules, since), rules);
  return runs.filter(({ begun, ended }) => begun < until && ended > from);
}

/** Reads the training run with an id; undefined if there is none. Fails with a `StoreError`. */
export async function readRun(store: Store, rules: RunRules, id: string): Promise<Run | undefined> {
  const named = readRunId(id);
  if (named === undefined) return undefined;
  const { cluster, namespace, kind, name, begun } = named;
  // The fact of a pod has the object below a schedule and the keys only within its JSON.
  const isBelow = kind === "Job" || rules.keys.includes(kind);
  const facts = await readFacts<WorkloadFact>(store, OF_NAME, {
    cluster,
    namespace,
    kind,
    name,
    isBelow,
    since: begun,
  });
  const own = facts.filter((fact) => {
    const of = runNameOf(fact, rules);
    return of.kind === kind && of.name === name;
  });
  return (await withRestarts(store, own, rules)).find((run) => run.id === id);
}

/** Returns the facts with those of other workloads whose runs have the same values of the keys. */
async function withKeyed(
  store: Store,
  facts: readonly WorkloadFact[],
  { keys }: RunRules,
  since: number,
): Promise<readonly WorkloadFact[]> {
  const byUid = new Map(facts.map((fact) => [`${fact.cluster} ${fact.uid}`, fact]));
  const names = facts.map((fact) => runNameOf(fact, { keys }));
  for (const key of keys) {
    const keyed = names.filter(({ kind }) => kind === key);
    if (keyed.length === 0) continue;
    const more = await readFacts<WorkloadFact>(store, OF_KEYS, {
      since,
      key,
      names: [...new Set(keyed.map(({ name }) => name))],
      namespaces: [...new Set(keyed.map(({ cluster, namespace }) => `${cluster}/${namespace}`))],
    });
    for (const fact of more) byUid.set(`${fact.cluster} ${fact.uid}`, fact);
  }
  return [...byUid.values()];
}

async function withRestarts(store: Store, facts: readonly WorkloadFact[], rules: RunRules): Promise<readonly Run[]> {
  const uids = facts.flatMap(({ uid, restarts }) => (restarts > 0 ? [uid] : []));
  const rows = uids.length === 0 ? [] : await store.query<RestartRow>(RESTARTS, { uids });
  const byUid = new Map<string, RestartRow[]>();
  for (const row of rows) byUid.set(row.uid, [...(byUid.get(row.uid) ?? []), row]);
  return runsOf(facts, rules, new Map([...byUid].map(([uid, ofPod]) => [uid, restartsOf(ofPod)])));
}

/**
 * Returns the restarts of a pod from its states in order. A restart ends when the pod is ready again. If the watcher saw it only after that,
 * it takes no time.
 */
function restartsOf(rows: readonly RestartRow[]): readonly ContainerRestart[] {
  return rows.flatMap((row, index): readonly ContainerRestart[] => {
    const before = rows[index - 1];
    if (before === undefined || row.restarts <= before.restarts) return [];
    const lastReady = before.ready ?? -Infinity;
    const again = rows.slice(index).find(({ ready }) => ready !== null && ready > lastReady)?.ready ?? undefined;
    return [again === undefined ? { at: row.at } : { at: Math.min(row.at, again), again }];
  });
}
