import { z } from "zod";

const name = z.string().regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
const labels = z.record(z.string(), z.string());
const metadata = z.strictObject({ name, namespace: name, labels: labels.optional(), annotations: labels.optional() });
const duration = z.string().regex(/^(\d+(ms|[smhd]))+$/);
/** The types of KEDA's metadata: texts, also for numbers and booleans. */
const text = z.string().min(1);
const number = z.string().regex(/^\d+(\.\d+)?$/);
const boolean = z.enum(["true", "false"]);
const count = z.int().min(0);

/**
 * A KEDA ScaledObject (https://keda.sh/docs/latest/reference/scaledobject-spec/) with a trigger of the Prometheus scaler
 * (https://keda.sh/docs/latest/scalers/prometheus/): the fields that both name. `behavior` is the HPA's own.
 */
export const SCALED_OBJECT = z.strictObject({
  apiVersion: z.literal("keda.sh/v1alpha1"),
  kind: z.literal("ScaledObject"),
  metadata,
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ apiVersion: text.optional(), kind: text.optional(), name }),
    pollingInterval: count.optional(),
    cooldownPeriod: count.optional(),
    minReplicaCount: count.optional(),
    maxReplicaCount: count.optional(),
    advanced: z.strictObject({ horizontalPodAutoscalerConfig: z.strictObject({ behavior: z.unknown() }) }).optional(),
    triggers: z
      .array(
        z.strictObject({
          type: z.literal("prometheus"),
          metricType: z.enum(["AverageValue", "Value"]).optional(),
          metadata: z.strictObject({
            serverAddress: z.url(),
            query: text,
            threshold: number,
            activationThreshold: number.optional(),
            ignoreNullValues: boolean.optional(),
            namespace: name.optional(),
          }),
        }),
      )
      .min(1),
  }),
});

/**
 * Values of the chart prometheus-community/prometheus-adapter (its values.yaml) with external rules, whose fields are those of
 * `DiscoveryRule` (pkg/config/config.go of kubernetes-sigs/prometheus-adapter, docs/externalmetrics.md).
 */
export const ADAPTER_VALUES = z.strictObject({
  prometheus: z.strictObject({ url: z.url(), port: z.int(), path: z.string().optional() }),
  rules: z.strictObject({
    default: z.boolean(),
    external: z.array(
      z.strictObject({
        seriesQuery: text,
        seriesFilters: z.array(z.union([z.strictObject({ is: text }), z.strictObject({ isNot: text })])).optional(),
        resources: z.strictObject({
          namespaced: z.boolean().optional(),
          template: text.optional(),
          overrides: z.record(z.string(), z.strictObject({ group: z.string().optional(), resource: text })).optional(),
        }),
        name: z.strictObject({ matches: z.string().optional(), as: text }),
        metricsQuery: text,
      }),
    ),
  }),
});

/** `SecretOrConfigMap` of Prometheus' operator. */
const secretOrConfigMap = z.union([
  z.strictObject({ secret: z.strictObject({ name, key: text }) }),
  z.strictObject({ configMap: z.strictObject({ name, key: text }) }),
]);

/**
 * A ServiceMonitor of the Prometheus operator
 * (https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitor).
 */
export const SERVICE_MONITOR = z.strictObject({
  apiVersion: z.literal("monitoring.coreos.com/v1"),
  kind: z.literal("ServiceMonitor"),
  metadata,
  spec: z.strictObject({
    selector: z.strictObject({ matchLabels: labels }),
    namespaceSelector: z.strictObject({ matchNames: z.array(name) }).optional(),
    endpoints: z
      .array(
        z.strictObject({
          port: text,
          path: z.string().startsWith("/"),
          interval: duration,
          scrapeTimeout: duration,
          honorLabels: z.boolean(),
          scheme: z.enum(["http", "https"]).optional(),
          tlsConfig: z
            .strictObject({
              ca: secretOrConfigMap.optional(),
              cert: secretOrConfigMap.optional(),
              keySecret: z.strictObject({ name, key: text }).optional(),
              serverName: text.optional(),
              insecureSkipVerify: z.boolean().optional(),
            })
            .optional(),
          params: z.record(z.string(), z.array(z.string())).optional(),
          relabelings: z.array(z.strictObject({ targetLabel: text, replacement: text })).optional(),
          authorization: z.strictObject({ credentials: z.strictObject({ name, key: text }) }).optional(),
        }),
      )
      .min(1),
  }),
});

/** A PrometheusRule of the same operator (.../api/#monitoring.coreos.com/v1.PrometheusRule). Another test checks its expressions with promtool. */
export const PROMETHEUS_RULE = z.strictObject({
  apiVersion: z.literal("monitoring.coreos.com/v1"),
  kind: z.literal("PrometheusRule"),
  metadata,
  spec: z.strictObject({
    groups: z.array(
      z.strictObject({
        name: text,
        interval: duration.optional(),
        rules: z.array(
          z.union([
            z.strictObject({ record: text, expr: text, labels: labels.optional() }),
            z.strictObject({
              alert: text,
              expr: text,
              for: duration.optional(),
              keep_firing_for: duration.optional(),
              labels,
              annotations: labels,
            }),
          ]),
        ),
      }),
    ),
  }),
});
