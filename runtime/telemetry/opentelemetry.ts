import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type SpanContext } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { metrics as sdkMetrics, NodeSDK, resources } from "@opentelemetry/sdk-node";
import type { Registry } from "prom-client";
import { toOtlpMetrics } from "./prometheus-to-otlp.ts";
import { noTracing, type Telemetry, type TelemetryConfig } from "./telemetry.ts";

/**
 * Starts OpenTelemetry for this process, once: traces of a part of the scrapes and the registry's metrics, each sent to its OTLP/HTTP
 * endpoint (`/v1/traces` and `/v1/metrics` are appended). If an endpoint is down, only its data is lost. OTEL_RESOURCE_ATTRIBUTES adds
 * attributes to the resource. Its other attributes are the service's name, a random id of this process, and the host.
 */
export function startOpenTelemetry(
  { tracing, metrics }: TelemetryConfig,
  service: string,
  registry: Registry,
): Telemetry {
  const { envDetector, hostDetector, serviceInstanceIdDetector } = resources;
  const sdk = new NodeSDK({
    serviceName: service,
    resourceDetectors: [envDetector, hostDetector, serviceInstanceIdDetector],
    textMapPropagator: null,
    logRecordProcessors: [],
    ...(tracing.otlp === undefined
      ? { spanProcessors: [] }
      : { traceExporter: new OTLPTraceExporter({ url: endpoint(tracing.otlp, "traces") }) }),
    metricReaders: metrics.otlp === undefined ? [] : [createReader(metrics.otlp, metrics.interval, registry)],
  });
  sdk.start();
  const spans = tracing.otlp === undefined ? noTracing : createSpans(tracing.ratio);
  return { ...spans, stop: () => sdk.shutdown().catch(() => undefined) };
}

/** Creates a metric reader that collects a registry of prom-client every `intervalMillis`, and once more at its shutdown. */
function createReader(
  otlp: string,
  intervalMillis: number,
  registry: Registry,
): sdkMetrics.PeriodicExportingMetricReader {
  const startMillis = Date.now() - process.uptime() * 1_000;
  return new sdkMetrics.PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: endpoint(otlp, "metrics") }),
    exportIntervalMillis: intervalMillis,
    exportTimeoutMillis: Math.min(intervalMillis, 10_000),
    metricProducers: [
      {
        async collect() {
          const metrics = await toOtlpMetrics(registry, { startMillis, nowMillis: Date.now() });
          const scopeMetrics = [{ scope: { name: "gpu-ledger" }, metrics }];
          return { resourceMetrics: { resource: resources.emptyResource(), scopeMetrics }, errors: [] };
        },
      },
    ],
  });
}

function createSpans(ratio: number): Omit<Telemetry, "stop"> {
  const tracer = trace.getTracer("gpu-ledger");
  return {
    startScrape(target) {
      if (Math.random() >= ratio) return undefined;
      const attributes = { "server.address": target };
      const span = tracer.startSpan("scrape", { kind: SpanKind.PRODUCER, attributes }, ROOT_CONTEXT);
      const { traceId, spanId } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-01`,
        end(failure) {
          if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
          span.end();
        },
      };
    },
    recordStored(traceparent, takenAtMillis, storedAtMillis) {
      const parent = readTraceparent(traceparent);
      if (parent === undefined) return;
      const context = trace.setSpanContext(ROOT_CONTEXT, parent);
      tracer.startSpan("store", { kind: SpanKind.CONSUMER, startTime: takenAtMillis }, context).end(storedAtMillis);
    },
  };
}

function endpoint(otlp: string, signal: "traces" | "metrics"): string {
  return `${otlp.replace(/\/$/, "")}/v1/${signal}`;
}

function readTraceparent(text: string): SpanContext | undefined {
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(text);
  if (match === null) return undefined;
  return { traceId: match[1]!, spanId: match[2]!, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}
