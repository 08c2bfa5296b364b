import type { V1Deployment, V1PodDisruptionBudget } from "@kubernetes/client-node";
import { PASSWORD_VARIABLE } from "./config.ts";
import { labelsOf, NAMESPACE, PROCESSOR, STORE_SECRET } from "./names.ts";
import { podTemplate } from "./pod.ts";

const metadata = { name: PROCESSOR, namespace: NAMESPACE, labels: labelsOf("processor") };

/** Returns the processors' Deployment. Processors share the partitions of the bus. Any number may run. They keep nothing on disk. */
export function processorDeployment(image: string): V1Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: 2,
      selector: { matchLabels: labelsOf("processor") },
      template: podTemplate({
        component: "processor",
        image,
        args: ["process"],
        configMap: PROCESSOR,
        requests: { cpu: "250m", memory: "512Mi" },
        memoryLimit: "1Gi",
        // A running insert, and leaving the group.
        graceSeconds: 60,
        env: [{ name: PASSWORD_VARIABLE, valueFrom: { secretKeyRef: { name: STORE_SECRET, key: "password" } } }],
        spec: { automountServiceAccountToken: false },
      }),
    },
  };
}

/** Returns the budget: nodes are drained one processor at a time. */
export function processorBudget(): V1PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf("processor") } },
  };
}
