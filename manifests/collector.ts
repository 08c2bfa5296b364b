import type { V1PodDisruptionBudget, V1Service, V1StatefulSet } from "@kubernetes/client-node";
import { DATA_FOLDER, STATUS_PORT } from "./config.ts";
import { COLLECTOR, COLLECTORS, labelsOf, NAMESPACE } from "./names.ts";
import { podTemplate } from "./pod.ts";

const metadata = { name: COLLECTOR, namespace: NAMESPACE, labels: labelsOf("collector") };

/** Returns the Service that gives the collectors' pods their names. */
export function collectorService(): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: {
      clusterIP: "None",
      // A collector that waits for Kafka must be reachable.
      publishNotReadyAddresses: true,
      selector: labelsOf("collector"),
      ports: [{ name: "http", port: STATUS_PORT, targetPort: "http" }],
    },
  };
}

/**
 * Returns the collectors' StatefulSet. Each collector has a number, which is its shard, and a volume for its spool. They start in parallel
 * and are replaced one by one.
 */
export function collectorStatefulSet(image: string): V1StatefulSet {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata,
    spec: {
      replicas: COLLECTORS,
      serviceName: COLLECTOR,
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate" },
      selector: { matchLabels: labelsOf("collector") },
      template: podTemplate({
        component: "collector",
        image,
        args: ["collect", "--shards", String(COLLECTORS)],
        configMap: COLLECTOR,
        requests: { cpu: "250m", memory: "512Mi" },
        memoryLimit: "1Gi",
        // A running scrape (collector.timeout, 10 s), then the queue, then the lease.
        graceSeconds: 30,
        mounts: [{ name: "data", mountPath: DATA_FOLDER }],
        spec: { serviceAccountName: COLLECTOR },
      }),
      // Twice the size of the spools of samples (bus.spool, 2 GB) and of facts.
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "8Gi" } } },
        },
      ],
    },
  };
}

/** Returns the budget: nodes are drained one collector at a time. */
export function collectorBudget(): V1PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf("collector") } },
  };
}
