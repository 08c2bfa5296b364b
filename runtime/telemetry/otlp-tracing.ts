import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type SpanContext } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Tracing } from "./tracing.ts";

/**
 * Traces a part of the scrapes, between 0 and 1, to an OTLP/HTTP endpoint (`/v1/traces` is appended). An endpoint that is away
 * costs nothing but its spans.
 */
export function createOtlpTracing(otlp: string, ratio: number, service: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${otlp.replace(/\/$/, "")}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": service }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("gpu-ledger");
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
    stop: () => provider.shutdown(),
  };
}

function readTraceparent(text: string): SpanContext | undefined {
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(text);
  if (match === null) return undefined;
  return { traceId: match[1]!, spanId: match[2]!, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}
