import type { V1Container, V1PodSpec, V1PodTemplateSpec } from "@kubernetes/client-node";
import { CONFIG_FILE, CONFIG_FOLDER, METRICS_VARIABLE, STATUS_PORT } from "./config.ts";
import { labelsOf, METRICS_SECRET, type Component } from "./names.ts";

/** A user without rights on the nodes. */
const USER = 65_532;

/** The differences between the pods of the parts. */
export interface PodOptions {
  readonly component: Component;
  readonly image: string;
  /** The command and its options, without `--config`. */
  readonly args: readonly string[];
  readonly configMap: string;
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly memoryLimit: string;
  /** Longer than the part needs to finish its work. */
  readonly graceSeconds: number;
  readonly env?: V1Container["env"];
  readonly mounts?: V1Container["volumeMounts"];
  readonly volumes?: V1PodSpec["volumes"];
  readonly spec: Pick<V1PodSpec, "serviceAccountName" | "automountServiceAccountToken">;
}

/**
 * Returns a pod that fits the `restricted` Pod Security Standard
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted), with a read-only root filesystem. The CPU has no
 * limit, because a throttled scrape is late.
 */
export function podTemplate(options: PodOptions): V1PodTemplateSpec {
  const { component, image, args, requests, memoryLimit, graceSeconds, env = [], mounts = [], volumes = [] } = options;
  return {
    metadata: {
      labels: labelsOf(component),
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": String(STATUS_PORT) },
    },
    spec: {
      ...options.spec,
      terminationGracePeriodSeconds: graceSeconds,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "kubernetes.io/hostname",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: labelsOf(component) },
        },
      ],
      containers: [
        {
          name: component,
          image,
          args: [...args, "--config", `${CONFIG_FOLDER}/${CONFIG_FILE}`],
          env: [
            { name: "HOSTNAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
            { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
            {
              name: METRICS_VARIABLE,
              valueFrom: { secretKeyRef: { name: METRICS_SECRET, key: "token", optional: true } },
            },
            ...env,
          ],
          ports: [{ name: "http", containerPort: STATUS_PORT }],
          livenessProbe: probe("/healthz", { periodSeconds: 10, failureThreshold: 6 }),
          readinessProbe: probe("/readyz", { periodSeconds: 2, failureThreshold: 3 }),
          resources: { requests: { ...requests }, limits: { memory: memoryLimit } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          volumeMounts: [{ name: "config", mountPath: CONFIG_FOLDER, readOnly: true }, ...mounts],
        },
      ],
      volumes: [{ name: "config", configMap: { name: options.configMap } }, ...volumes],
    },
  };
}

function probe(
  path: string,
  pace: { readonly periodSeconds: number; readonly failureThreshold: number },
): NonNullable<V1Container["livenessProbe"]> {
  return { httpGet: { path, port: "http" }, timeoutSeconds: 5, ...pace };
}
