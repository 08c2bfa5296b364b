/** Where everything of gpu-ledger lives in a cluster. */
export const NAMESPACE = "gpu-ledger";

/** The collectors' StatefulSet, its Service and its ServiceAccount, and the roles that the account has. */
export const COLLECTOR = "gpu-ledger-collector";

/** The processors' Deployment. */
export const PROCESSOR = "gpu-ledger-processor";

/** The servers' Deployment and Service. */
export const SERVER = "gpu-ledger-server";

/** The Secret with ClickHouse's password under the key `password`. It is made by hand: no generated file knows it. */
export const STORE_SECRET = "gpu-ledger-clickhouse";

/** The Secret with what Prometheus has to give for metrics, under the key `token`. It is made by hand too, if at all. */
export const METRICS_SECRET = "gpu-ledger-metrics";

/** The election's lease; the configuration's own default in {@link NAMESPACE}. */
export const LEASE = { namespace: NAMESPACE, name: "gpu-ledger-watcher" } as const;

/** How many collectors share the targets. */
export const COLLECTORS = 2;

/** What pods are of. */
export type Component = "collector" | "processor" | "server";

/** Kubernetes' recommended labels, by which a part's pods are selected. */
export function labelsOf(component: Component): { [name: string]: string } {
  return { "app.kubernetes.io/name": "gpu-ledger", "app.kubernetes.io/component": component };
}
