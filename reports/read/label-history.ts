import type { StoreClient } from "../../runtime/store/client.ts";
import { FACT_ORDER } from "../../runtime/store/schema/facts.ts";

/** A value of a label or an annotation, and since when a collector has seen it. */
export interface LabelValue {
  /** Empty if the object did not have the label. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A label or an annotation by which an owner was found, with its values over time. */
export interface LabelHistory {
  /** The object: `namespace vision`, `pod vision/train-0`. */
  readonly of: string;
  readonly key: string;
  /** Oldest first; only changes. */
  readonly values: readonly LabelValue[];
}

/** The objects of rules: the pod itself, the objects above it, its namespace. */
const OBJECTS = { pod: "pod", owner: "owners" } as const;

/** SQL for the changes of a value over the facts of an object. */
const changesSql = (table: string, where: string, value: string): string => `
SELECT value, since
FROM (
  SELECT ${value} AS value, toFloat64(toUnixTimestamp64Milli(at)) AS since, lagInFrame(toNullable(value)) OVER of_object AS before
  FROM ${table} WHERE ${where} AND NOT ended
  WINDOW of_object AS (PARTITION BY uid ORDER BY ${FACT_ORDER} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
WHERE before IS NULL OR value != before
ORDER BY since LIMIT 100`;

/**
 * Reads the values of the label by which a rule named the owner of a pod; undefined if the rule reads no label. `rule` is the rule of a charge:
 * `namespaceLabel team`, `podAnnotation example.com/team`. Fails with a `StoreError`.
 */
export async function readLabelHistory(
  store: Pick<StoreClient, "query">,
  of: { readonly cluster: string; readonly namespace: string; readonly pod: string; readonly rule: string },
): Promise<LabelHistory | undefined> {
  const { cluster, namespace, pod, rule } = of;
  const [, object, kind, key] = /^(namespace|pod|owner)(Label|Annotation) (.+)$/.exec(rule) ?? [];
  if (object === undefined || key === undefined) return undefined;
  const marks = kind === "Label" ? "labels" : "annotations";
  const parameters = { cluster, namespace, pod, key };
  if (object === "namespace") {
    const where = "cluster = {cluster:String} AND kind = 'Namespace' AND name = {namespace:String}";
    const sql = changesSql("cluster_facts", where, `JSONExtractString(fact, 'body', '${marks}', {key:String})`);
    return { of: `namespace ${namespace}`, key, values: await store.query<LabelValue>(sql, parameters) };
  }
  const place = OBJECTS[object as keyof typeof OBJECTS];
  const where = "cluster = {cluster:String} AND namespace = {namespace:String} AND pod = {pod:String}";
  // Facts of releases before 0.4 do not keep the marks of the pod and its owners apart.
  const value = `if(JSONHas(fact, 'marks'), JSONExtractString(fact, 'marks', '${place}', '${marks}', {key:String}),
    JSONExtractString(fact, '${marks}', {key:String}))`;
  const values = await store.query<LabelValue>(changesSql("workload_facts", where, value), parameters);
  return { of: `${object === "pod" ? "pod" : "owners of pod"} ${namespace}/${pod}`, key, values };
}
