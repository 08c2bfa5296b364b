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
 * Traces to an OTLP/HTTP endpoint, a part of the scrapes between 0 and 1. Without an endpoint nothing is traced, and nothing is
 * loaded for it: OpenTelemetry takes a quarter of a second at each start.
 */
export async function createTracing(
  { otlp, ratio }: { readonly otlp?: string | undefined; readonly ratio: number },
  service: string,
): Promise<Tracing> {
  if (otlp === undefined) return noTracing;
  const { createOtlpTracing } = await import("./otlp-tracing.ts");
  return createOtlpTracing(otlp, ratio, service);
}
