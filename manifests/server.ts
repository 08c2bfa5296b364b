import type { V1Deployment, V1PodDisruptionBudget, V1Service } from "@kubernetes/client-node";
import { PASSWORD_VARIABLE } from "./config.ts";
import { labelsOf, NAMESPACE, PROCESSOR, SERVER, STORE_SECRET } from "./names.ts";
import { podTemplate } from "./pod.ts";

const metadata = { name: SERVER, namespace: NAMESPACE, labels: labelsOf("server") };

/** The servers of the API and the pages: any number may run. They read by the processors' prices, owners and policies. */
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
        // A file that somebody is getting.
        graceSeconds: 30,
        env: [{ name: PASSWORD_VARIABLE, valueFrom: { secretKeyRef: { name: STORE_SECRET, key: "password" } } }],
        // Files that are delivered are made there before they are sent.
        mounts: [{ name: "tmp", mountPath: "/tmp" }],
        volumes: [{ name: "tmp", emptyDir: {} }],
        spec: { automountServiceAccountToken: false },
      }),
    },
  };
}

/** What an Ingress, a Gateway or `kubectl port-forward` leads to. */
export function serverService(): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { selector: labelsOf("server"), ports: [{ name: "http", port: 80, targetPort: "http" }] },
  };
}

/** Nodes are drained one server at a time. */
export function serverBudget(): V1PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf("server") } },
  };
}
