import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { ofNewestFact } from "../../runtime/store/schema/facts.ts";

const IS_THERE = `${ofNewestFact("ended")} = 0`;

/** Returns the SQL of the newest fact of each object. `where` selects objects. `having` selects those that meet it now and are not gone. */
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

/** Reads facts in their projected form. Fails with a `StoreError`. */
export async function readFacts<Fact>(
  store: Pick<StoreClient, "query">,
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<readonly Fact[]> {
  const rows = await store.query<{ readonly fact: string }>(sql, parameters);
  return rows.map(({ fact }) => JSON.parse(fact) as Fact);
}

/** The labels and annotations of a namespace. */
export type NamespaceMarks = Extract<ClusterFact, { readonly kind: "Namespace" }>["body"];

/** Reads the marks of every namespace by `cluster/name`. Fails with a `StoreError`. */
export async function readNamespaceMarks(
  store: Pick<StoreClient, "query">,
): Promise<ReadonlyMap<string, NamespaceMarks>> {
  const sql = newestSql("cluster_facts", "cluster, kind, uid", { where: "kind = 'Namespace'" });
  const namespaces = await readFacts<ClusterFact>(store, sql);
  return new Map(
    namespaces.flatMap((fact) => (fact.kind === "Namespace" ? [[`${fact.cluster}/${fact.name}`, fact.body]] : [])),
  );
}
