import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type SpanContext } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

/** A span under way. */
export interface OpenSpan {
  /** W3C's `traceparent`, for the message's headers. */
  readonly traceparent: string;
  /** Ends the span; with a failure's words it ends as an error. */
  end(failure?: string): void;
}

/** The program's traces: from a scrape, over the bus, to the insert. */
export interface Tracing {
  /** A span for a part of the scrapes; `undefined` for the others, and for all where nothing is traced. */
  startScrape(target: string): OpenSpan | undefined;
  /** The span of a message that was stored, as the child of the scrape's that its header names. */
  recordStored(traceparent: string, takenAtMillis: number, storedAtMillis: number): void;
  /** Sends what is left. */
  stop(): Promise<void>;
}

/** Traces nothing, at no cost. */
export const noTracing: Tracing = {
  startScrape: () => undefined,
  recordStored: () => {},
  stop: () => Promise.resolve(),
};

/**
 * Traces to an OTLP/HTTP endpoint (`/v1/traces` is appended), a part of the scrapes between 0 and 1. Without an endpoint
 * nothing is traced. An endpoint that is away costs nothing but its spans.
 */
export function createTracing(
  { otlp, ratio }: { readonly otlp?: string | undefined; readonly ratio: number },
  service: string,
): Tracing {
  if (otlp === undefined) return noTracing;
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
