import type { V1Deployment, V1PodDisruptionBudget, V1Service } from "@kubernetes/client-node";
import { PASSWORD_VARIABLE } from "./config.ts";
import { labelsOf, NAMESPACE, PROCESSOR, SERVER, STORE_SECRET } from "./names.ts";
import { podTemplate } from "./pod.ts";

const metadata = { name: SERVER, namespace: NAMESPACE, labels: labelsOf("server") };

/**
 * Returns the Deployment of the servers of the API and the pages. Any number may run. They use the processors' prices, owners and policies.
 */
export function serverDeployment(image: string): V1Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: 2,
      selector: { matchLabels: labelsOf("server") },
      template: podTemplate({
        component: "server",
        image,
        args: ["serve"],
        configMap: PROCESSOR,
        requests: { cpu: "100m", memory: "256Mi" },
        memoryLimit: "1Gi",
        // A running download.
        graceSeconds: 30,
        env: [{ name: PASSWORD_VARIABLE, valueFrom: { secretKeyRef: { name: STORE_SECRET, key: "password" } } }],
        // The folder in which delivered files are made before they are sent.
        mounts: [{ name: "tmp", mountPath: "/tmp" }],
        volumes: [{ name: "tmp", emptyDir: {} }],
        spec: { automountServiceAccountToken: false },
      }),
    },
  };
}

/** Returns the Service for an Ingress, a Gateway or `kubectl port-forward`. */
export function serverService(): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { selector: labelsOf("server"), ports: [{ name: "http", port: 80, targetPort: "http" }] },
  };
}

/** Returns the budget: nodes are drained one server at a time. */
export function serverBudget(): V1PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf("server") } },
  };
}
