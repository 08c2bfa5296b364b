import type { Registry } from "prom-client";
import type { Config } from "../config/schema.ts";

/** The settings that name the OTLP endpoints. */
export type TelemetryConfig = Pick<Config, "tracing" | "metrics">;

/** An open span. */
export interface OpenSpan {
  /** W3C's `traceparent`, for the message's headers. */
  readonly traceparent: string;
  /** Ends the span. With the message of a failure, the span ends as an error. */
  end(failure?: string): void;
}

/** Traces of the pipeline: from a scrape, over the bus, to the insert. */
export interface Tracing {
  /** Returns a span for a part of the scrapes; `undefined` for the others, and for all if nothing is traced. */
  startScrape(target: string): OpenSpan | undefined;
  /** Records the span of a stored message, as the child of the scrape's span in the message's header. */
  recordStored(traceparent: string, takenAtMillis: number, storedAtMillis: number): void;
}

/** The OpenTelemetry exports of one process. */
export interface Telemetry extends Tracing {
  /** Sends the rest of the spans and the last values of the metrics. */
  stop(): Promise<void>;
}

/** Tracing that does nothing, at no cost. */
export const noTracing: Tracing = { startScrape: () => undefined, recordStored: () => {} };

/**
 * Starts the OpenTelemetry exports of this process: traces if `tracing.otlp` is set, the registry's metrics if `metrics.otlp` is set. With
 * neither, nothing is loaded: the SDK takes half a second at each start.
 */
export async function startTelemetry(config: TelemetryConfig, service: string, registry: Registry): Promise<Telemetry> {
  if (config.tracing.otlp === undefined && config.metrics.otlp === undefined)
    return { ...noTracing, stop: () => Promise.resolve() };
  const { startOpenTelemetry } = await import("./opentelemetry.ts");
  return startOpenTelemetry(config, service, registry);
}
