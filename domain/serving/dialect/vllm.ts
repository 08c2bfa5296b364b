import {
  bytes,
  ENDS,
  endsOfRequests,
  flops,
  ratio,
  seconds,
  whole,
  type ServingDialect,
  type ServingRow,
} from "./dialect.ts";

/**
 * The series of vLLM, with the names of its first engine (0.4 to 0.8) and of the current one (0.8 to 0.33). The sources of prompt tokens
 * exist from 0.16 on. `request_prefill_time_seconds` and `request_decode_time_seconds` are sums over requests.
 * Source: vllm/engine/metrics.py and vllm/v1/metrics/loggers.py of the published packages.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "vllm:prompt_tokens"),
  whole("computed_prompt_tokens", ["vllm:prompt_tokens_by_source", { source: "local_compute" }]),
  whole("cached_device_tokens", ["vllm:prompt_tokens_by_source", { source: "local_cache_hit" }]),
  whole("cached_external_tokens", ["vllm:prompt_tokens_by_source", { source: "external_kv_transfer" }]),
  whole("cached_tokens", "vllm:prompt_tokens_cached"),
  whole("recomputed_tokens", "vllm:prompt_tokens_recomputed"),
  whole("generation_tokens", "vllm:generation_tokens"),
  ...endsOfRequests("vllm:request_success", "finished_reason", {
    requests_stop: ["stop"],
    requests_length: ["length"],
    requests_abort: ["abort"],
    requests_error: ["error"],
  }),
  whole("preemptions", "vllm:num_preemptions"),
  whole("drafts", "vllm:spec_decode_num_drafts"),
  whole("draft_tokens", "vllm:spec_decode_num_draft_tokens"),
  whole("accepted_tokens", "vllm:spec_decode_num_accepted_tokens"),
  seconds("queue_us", "vllm:request_queue_time_seconds_sum"),
  seconds("prefill_us", "vllm:request_prefill_time_seconds_sum"),
  seconds("decode_us", "vllm:request_decode_time_seconds_sum"),
  seconds("compute_us", "vllm:request_inference_time_seconds_sum"),
  flops("gigaflops", "vllm:estimated_flops_per_gpu"),
  bytes("read_megabytes", "vllm:estimated_read_bytes_per_gpu"),
  bytes("written_megabytes", "vllm:estimated_write_bytes_per_gpu"),
  whole("running", "vllm:num_requests_running"),
  whole("waiting", "vllm:num_requests_waiting"),
  // The names end in _perc, and the values are ratios.
  ratio("kv_cache_ppm", "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
  whole("asleep", ["vllm:engine_sleep_state", { sleep_state: ["weights_offloaded", "discard_all"] }]),
];

const MEANS = "it is a sum of means, not a duration";
const AT_EACH_STEP = "a waiting request can be counted at every step: only a ratio of two of them has a meaning";

/** vLLM. Each data-parallel engine of a pod is a part. Triton's backend for vLLM has the same series with Triton's labels. */
export const vllm: ServingDialect = {
  exporter: "vllm",
  kind: "engine",
  table: TABLE,
  owns: (name) => name.startsWith("vllm:"),
  model: ["model_name", "model"],
  part: ["engine", "version"],
  totals: { requests: ENDS },
  unless: { cached_tokens: ["cached_device_tokens", "cached_external_tokens"] },
  traps: {
    "vllm:iteration_tokens_total": "it is a histogram of the tokens of each step, in spite of its name",
    "vllm:time_per_output_token_seconds": MEANS,
    "vllm:request_time_per_output_token_seconds": MEANS,
    "vllm:prefix_cache_queries": AT_EACH_STEP,
    "vllm:prefix_cache_hits": AT_EACH_STEP,
    "vllm:gpu_prefix_cache_queries": AT_EACH_STEP,
    "vllm:gpu_prefix_cache_hits": AT_EACH_STEP,
    "vllm:prompt_tokens_cached_by_source": AT_EACH_STEP,
  },
};
