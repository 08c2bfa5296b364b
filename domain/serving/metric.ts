/** The unit of a serving metric. The store holds each value as a whole number of it. */
export type ServingUnit =
  | "tokens"
  | "requests"
  | "count"
  | "microseconds"
  | "gigaflops"
  | "megabytes"
  | "nanos"
  | "ppm"
  | "milliseconds";

/** A canonical metric of an inference engine or of a gateway. */
export interface ServingMetric {
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly unit: ServingUnit;
  /** A description of the value, for people. */
  readonly help: string;
}

const counter = (name: string, unit: ServingUnit, help: string): ServingMetric => ({
  name,
  kind: "counter",
  unit,
  help,
});
const gauge = (name: string, unit: ServingUnit, help: string): ServingMetric => ({ name, kind: "gauge", unit, help });

/**
 * Every canonical metric of an engine or a gateway, in the order of messages and tables. All values are whole numbers. Durations are sums
 * over requests or over passes of the engine, so they can grow faster than the clock.
 */
export const SERVING_METRICS: readonly ServingMetric[] = [
  counter("prompt_tokens", "tokens", "prompt tokens, cached ones included"),
  counter("computed_prompt_tokens", "tokens", "prompt tokens that the engine computed"),
  counter("cached_device_tokens", "tokens", "prompt tokens from the cache in GPU memory"),
  counter("cached_host_tokens", "tokens", "prompt tokens from the cache in host memory"),
  counter("cached_external_tokens", "tokens", "prompt tokens from storage or from another engine"),
  counter(
    "cached_tokens",
    "tokens",
    "prompt tokens from a cache that the page does not name; never counted in the three columns before",
  ),
  counter("recomputed_tokens", "tokens", "tokens that were computed again, after a preemption"),
  counter("generation_tokens", "tokens", "generated tokens"),
  counter("requests", "requests", "finished requests, whatever their end"),
  counter("requests_stop", "requests", "requests that ended by themselves"),
  counter("requests_length", "requests", "requests that ended at the limit of their length"),
  counter("requests_abort", "requests", "requests that the client or the engine aborted"),
  counter("requests_error", "requests", "requests that failed"),
  counter("requests_other", "requests", "requests with another end"),
  counter("preemptions", "count", "requests that were preempted for lack of memory"),
  counter("drafts", "count", "speculative drafts"),
  counter("draft_tokens", "tokens", "tokens of speculative drafts"),
  counter("accepted_tokens", "tokens", "draft tokens that were accepted"),
  counter("inferences", "count", "inferences: items of batches, of engines without tokens"),
  counter("batches", "count", "batches that were executed"),
  counter("queue_us", "microseconds", "time that requests waited"),
  counter("prefill_us", "microseconds", "time that requests spent in prefill"),
  counter("decode_us", "microseconds", "time that requests spent in decode"),
  counter("gpu_prefill_us", "microseconds", "time of the GPU in passes of prefill"),
  counter("gpu_decode_us", "microseconds", "time of the GPU in passes of decode"),
  counter("compute_us", "microseconds", "time that requests or batches spent in the model, all phases"),
  counter("idle_us", "microseconds", "time in which the engine had nothing to do, as the engine measured it"),
  counter("gigaflops", "gigaflops", "estimated floating-point operations of each GPU"),
  counter("read_megabytes", "megabytes", "estimated reads from GPU memory, of each GPU"),
  counter("written_megabytes", "megabytes", "estimated writes to GPU memory, of each GPU"),
  counter("spend_nanos", "nanos", "what a gateway has charged by its price list, in 10^-9 of its currency"),
  gauge("running", "requests", "requests in the engine"),
  gauge("waiting", "requests", "requests in the queue"),
  gauge("kv_cache_ppm", "ppm", "part of the key-value cache that is used"),
  gauge("asleep", "count", "1 if the engine sleeps and has freed its memory, otherwise 0"),
  gauge("created_ms", "milliseconds", "when the oldest counter of the row began, since the epoch"),
];

/** The canonical metrics by name. */
export const SERVING_METRIC_BY_NAME: ReadonlyMap<string, ServingMetric> = new Map(
  SERVING_METRICS.map((metric) => [metric.name, metric]),
);
