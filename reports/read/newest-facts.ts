import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { ofNewestFact } from "../../runtime/store/schema/facts.ts";

const IS_THERE = `${ofNewestFact("ended")} = 0`;

/** SQL of the newest fact of each object. `where` chooses objects, and `having` those that it is true of now: those that are not gone. */
export function newestSql(
  table: string,
  key: string,
  { where = "1", having = IS_THERE }: { readonly where?: string; readonly having?: string } = {},
): string {
  return `
  SELECT ${ofNewestFact("fact")} AS fact
  FROM ${table} WHERE ${where}
  GROUP BY ${key}
  HAVING ${having}`;
}

/** Facts as they were projected. Fails with a `StoreError`. */
export async function readFacts<Fact>(
  store: Pick<StoreClient, "query">,
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<readonly Fact[]> {
  const rows = await store.query<{ readonly fact: string }>(sql, parameters);
  return rows.map(({ fact }) => JSON.parse(fact) as Fact);
}

/** What the labels and annotations of a namespace are. */
export type NamespaceMarks = Extract<ClusterFact, { readonly kind: "Namespace" }>["body"];

/** The marks of every namespace by `cluster/name`. Fails with a `StoreError`. */
export async function readNamespaceMarks(
  store: Pick<StoreClient, "query">,
): Promise<ReadonlyMap<string, NamespaceMarks>> {
  const sql = newestSql("cluster_facts", "cluster, kind, uid", { where: "kind = 'Namespace'" });
  const namespaces = await readFacts<ClusterFact>(store, sql);
  return new Map(
    namespaces.flatMap((fact) => (fact.kind === "Namespace" ? [[`${fact.cluster}/${fact.name}`, fact.body]] : [])),
  );
}
