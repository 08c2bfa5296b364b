import { layPage, type MovingPage } from "./page.ts";

/** Histograms of vLLM 0.33 with the numbers of their buckets. */
const HISTOGRAMS: Readonly<Record<string, number>> = {
  request_prompt_tokens: 15,
  request_generation_tokens: 15,
  request_max_num_generation_tokens: 15,
  request_params_max_tokens: 15,
  request_prefill_kv_computed_tokens: 15,
  iteration_tokens_total: 15,
  e2e_request_latency_seconds: 22,
  request_queue_time_seconds: 22,
  request_inference_time_seconds: 22,
  request_prefill_time_seconds: 22,
  request_decode_time_seconds: 22,
  time_to_first_token_seconds: 22,
  inter_token_latency_seconds: 20,
  request_time_per_output_token_seconds: 20,
  request_params_n: 6,
  request_num_preemptions: 10,
};
const COUNTERS = [
  ...["prefix_cache", "external_prefix_cache", "mm_cache"].flatMap((cache) => [`${cache}_queries`, `${cache}_hits`]),
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
  return layPage((put, number) => {
    const series = (name: string, text: (tick: number) => string): void => {
      put(`${name} `);
      number(text);
    };
    const family = (name: string, type: string): void =>
      put(`# HELP ${name} A help of the usual length for one metric.\n# TYPE ${name} ${type}\n`);
    const created = (name: string, ofLabels: readonly string[]): void => {
      family(`${name}_created`, "gauge");
      for (const each of ofLabels) series(`${name}_created{${each}}`, () => "1.7900000005e+09");
    };
    const counter = (name: string, ofLabels: readonly string[]): void => {
      family(`${name}_total`, "counter");
      ofLabels.forEach((each, index) => series(`${name}_total{${each}}`, large(index)));
      created(name, ofLabels);
    };
    const histogram = (name: string, ofLabels: string, buckets: number): void => {
      family(name, "histogram");
      for (let bucket = 1; bucket < buckets; bucket++)
        series(`${name}_bucket{${ofLabels},le="${bucket}.0"}`, large(bucket));
      series(`${name}_bucket{${ofLabels},le="+Inf"}`, large(buckets));
      series(`${name}_count{${ofLabels}}`, large(buckets));
      series(`${name}_sum{${ofLabels}}`, (tick) => `${100_000 + tick}.53482913970947`);
      created(name, [ofLabels]);
    };

    for (const name of GAUGES) {
      family(`vllm:${name}`, "gauge");
      series(`vllm:${name}{${labels}}`, (tick) => `${10 + (tick % 90)}.0`);
    }
    for (const name of COUNTERS) counter(`vllm:${name}`, [labels]);
    for (const [name, label, values] of LABELED) {
      const each = values.map((value) => `${labels},${label}="${value}"`);
      counter(`vllm:${name}`, each);
    }
    for (const [name, buckets] of Object.entries(HISTOGRAMS)) histogram(`vllm:${name}`, labels, buckets);
    for (const handler of ["/v1/chat/completions", "/v1/models", "/health"]) {
      histogram("http_request_duration_seconds", `handler="${handler}",method="POST"`, 4);
      counter("http_requests", [`handler="${handler}",method="POST",status="2xx"`]);
    }
  });
}

function large(index: number): (tick: number) => string {
  return (tick) => `1.${1_000_000 + index * 10_000 + (tick % 9000)}e+07`;
}
