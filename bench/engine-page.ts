import type { MovingPage } from "./page.ts";

/** Histograms of vLLM 0.33 with the numbers of their buckets. */
const HISTOGRAMS: readonly (readonly [name: string, buckets: number])[] = [
  ...[
    "request_prompt_tokens",
    "request_generation_tokens",
    "request_max_num_generation_tokens",
    "request_params_max_tokens",
    "request_prefill_kv_computed_tokens",
    "iteration_tokens_total",
  ].map((name) => [name, 15] as const),
  ...[
    "e2e_request_latency_seconds",
    "request_queue_time_seconds",
    "request_inference_time_seconds",
    "request_prefill_time_seconds",
    "request_decode_time_seconds",
    "time_to_first_token_seconds",
  ].map((name) => [name, 22] as const),
  ...["inter_token_latency_seconds", "request_time_per_output_token_seconds"].map((name) => [name, 20] as const),
  ["request_params_n", 6],
  ["request_num_preemptions", 10],
];
const COUNTERS = [
  "prefix_cache_queries",
  "prefix_cache_hits",
  "external_prefix_cache_queries",
  "external_prefix_cache_hits",
  "mm_cache_queries",
  "mm_cache_hits",
  "num_preemptions",
  "prompt_tokens",
  "prompt_tokens_cached",
  "generation_tokens",
];
const GAUGES = ["num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"];
/** Counters with a label, and the values of the label. */
const LABELED: readonly (readonly [name: string, label: string, values: readonly string[]])[] = [
  ["prompt_tokens_by_source", "source", ["local_compute", "local_cache_hit", "external_kv_transfer"]],
  ["request_success", "finished_reason", ["stop", "length", "abort", "error", "repetition"]],
];

/**
 * Returns the page of an engine in a pod: the series of vLLM 0.33 in the form of Python's client, with buckets and times of creation, and
 * those of its HTTP server. Most numbers change at each collection, with an equal number of digits.
 */
export function createMovingEnginePage(pod: string): MovingPage {
  const labels = `engine="0",model_name="models/llama-3.3-70b-instruct-of-${pod}"`;
  const parts: string[] = [];
  const places: { readonly at: number; readonly text: (tick: number) => string }[] = [];
  let length = 0;
  const push = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  const series = (name: string, text: (tick: number) => string): void => {
    push(`${name} `);
    places.push({ at: length, text });
    push(`${text(0)}\n`);
  };
  const family = (name: string, type: string): void =>
    push(`# HELP ${name} A help of the usual length for one metric.\n# TYPE ${name} ${type}\n`);
  const created = (name: string, ofLabels: readonly string[]): void => {
    family(`${name}_created`, "gauge");
    for (const each of ofLabels) series(`${name}_created{${each}}`, () => "1.7900000005e+09");
  };
  const counter = (name: string, ofLabels: readonly string[]): void => {
    family(`${name}_total`, "counter");
    ofLabels.forEach((each, index) => series(`${name}_total{${each}}`, large(index)));
    created(name, ofLabels);
  };

  for (const name of GAUGES) {
    family(`vllm:${name}`, "gauge");
    series(`vllm:${name}{${labels}}`, (tick) => `${10 + (tick % 90)}.0`);
  }
  for (const name of COUNTERS) counter(`vllm:${name}`, [labels]);
  for (const [name, label, values] of LABELED)
    counter(
      `vllm:${name}`,
      values.map((value) => `${labels},${label}="${value}"`),
    );
  const histogram = (name: string, ofLabels: string, buckets: number): void => {
    family(name, "histogram");
    for (let bucket = 1; bucket < buckets; bucket++)
      series(`${name}_bucket{${ofLabels},le="${bucket}.0"}`, large(bucket));
    series(`${name}_bucket{${ofLabels},le="+Inf"}`, large(buckets));
    series(`${name}_count{${ofLabels}}`, large(buckets));
    series(`${name}_sum{${ofLabels}}`, (tick) => `${100_000 + tick}.53482913970947`);
    created(name, [ofLabels]);
  };
  for (const [name, buckets] of HISTOGRAMS) histogram(`vllm:${name}`, labels, buckets);
  for (const handler of ["/v1/chat/completions", "/v1/models", "/health"]) {
    histogram("http_request_duration_seconds", `handler="${handler}",method="POST"`, 4);
    counter("http_requests", [`handler="${handler}",method="POST",status="2xx"`]);
  }
  const bytes = Buffer.from(parts.join(""), "latin1");
  let tick = 0;
  return {
    bytes,
    collect() {
      tick += 1;
      for (const { at, text } of places) bytes.write(text(tick), at, "latin1");
    },
  };
}

function large(index: number): (tick: number) => string {
  return (tick) => `1.${1_000_000 + index * 10_000 + (tick % 9000)}e+07`;
}
