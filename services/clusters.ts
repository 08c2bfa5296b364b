import { createKubeAccess } from "../collectors/kubernetes/api/access.ts";
import { createApiConnection, type ApiConnection } from "../collectors/kubernetes/api/connection.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Config } from "../runtime/config/schema.ts";

/** A cluster of the configuration with a connection to its API server. */
export interface ConnectedCluster {
  readonly cluster: string;
  readonly api: ApiConnection;
}

/** Creates a connection to each cluster of the configuration. It sends nothing yet. */
export function connectClusters({ cluster, kubernetes }: Config): readonly ConnectedCluster[] {
  return kubernetes.clusters.map(({ name = cluster, kubeconfig, context }) => {
    const access = createKubeAccess({
      ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    return { cluster: name, api: createApiConnection(access, systemClock) };
  });
}
