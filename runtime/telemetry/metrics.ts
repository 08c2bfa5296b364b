import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { COLLECTOR_METRICS } from "./collector-metrics.ts";
import { SECONDS, type MetricDefinition } from "./metric-definition.ts";
import { PORT_METRICS } from "./port-metrics.ts";
import { PROCESSOR_METRICS } from "./processor-metrics.ts";
import { REMOTE_WRITE_METRICS } from "./remote-write-metrics.ts";
import { SERVER_METRICS } from "./server-metrics.ts";

/** Every metric. Tests compare docs/metrics.md and the exported metrics with this table. */
export const METRIC_DEFINITIONS = {
  ...COLLECTOR_METRICS,
  ...REMOTE_WRITE_METRICS,
  ...PROCESSOR_METRICS,
  ...SERVER_METRICS,
  ...PORT_METRICS,
};

type Definitions = Readonly<Record<string, MetricDefinition>>;
type InstanceOf<Type> = Type extends "counter"
  ? Counter
  : Type extends "gauge"
    ? Gauge
    : Type extends "histogram"
      ? Histogram
      : never;

type MetricsOf<Of extends Definitions> = { readonly [Key in keyof Of]: InstanceOf<Of[Key]["type"]> };

/** The metrics of one process, each under its key. */
export type Metrics = MetricsOf<typeof METRIC_DEFINITIONS>;

/** The metrics of a process that only serves reports. */
export type ServerMetrics = MetricsOf<typeof SERVER_METRICS>;

/** The metrics of a process's own port. */
export type PortMetrics = MetricsOf<typeof PORT_METRICS>;

/** Registers every metric. Counters without labels and those of known labels start at 0, so that the first increase is visible. */
export function createMetrics(registry: Registry): Metrics {
  return register(registry, METRIC_DEFINITIONS);
}

/** Registers the metrics of a process that serves reports, in the same way. */
export function createServerMetrics(registry: Registry): ServerMetrics {
  return register(registry, SERVER_METRICS);
}

/** Returns the metrics of a process's own port. It registers those that the registry does not have yet. */
export function createPortMetrics(registry: Registry): PortMetrics {
  return register(registry, PORT_METRICS);
}

function register<Of extends Definitions>(registry: Registry, definitions: Of): MetricsOf<Of> {
  const entries = Object.entries(definitions).map(([key, definition]: [string, MetricDefinition]) => {
    const { name, help, labels, type, buckets, known = [] } = definition;
    const registered = registry.getSingleMetric(name);
    if (registered !== undefined) return [key, registered];
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === "counter") {
      const counter = new Counter(options);
      for (const value of known) counter.inc({ [labels[0]!]: value }, 0);
      return [key, counter];
    }
    if (type === "gauge") return [key, new Gauge(options)];
    return [key, new Histogram({ ...options, buckets: [...(buckets ?? SECONDS)] })];
  });
  return Object.fromEntries(entries) as MetricsOf<Of>;
}
