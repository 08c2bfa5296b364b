/** The namespace of all objects of gpu-ledger. */
export const NAMESPACE = "gpu-ledger";

/** The collectors' StatefulSet, its Service, its ServiceAccount, and the roles of the account. */
export const COLLECTOR = "gpu-ledger-collector";

/** The processors' Deployment. */
export const PROCESSOR = "gpu-ledger-processor";

/** The servers' Deployment and Service. */
export const SERVER = "gpu-ledger-server";

/** The Secret with ClickHouse's password under the key `password`. It is created by hand: no generated file contains it. */
export const STORE_SECRET = "gpu-ledger-clickhouse";

/** The Secret with the token that Prometheus needs for metrics, under the key `token`. It is optional and is created by hand too. */
export const METRICS_SECRET = "gpu-ledger-metrics";

/** The election's lease; the configuration's own default in {@link NAMESPACE}. */
export const LEASE = { namespace: NAMESPACE, name: "gpu-ledger-watcher" } as const;

/** The number of collectors that share the targets. */
export const COLLECTORS = 2;

/** The part of the program to which a pod belongs. */
export type Component = "collector" | "processor" | "server";

/** Returns Kubernetes' recommended labels, which select a part's pods. */
export function labelsOf(component: Component): { [name: string]: string } {
  return { "app.kubernetes.io/name": "gpu-ledger", "app.kubernetes.io/component": component };
}
