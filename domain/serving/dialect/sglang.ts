import { bytes, flops, ratio, seconds, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

const PASSES = "sglang:forward_execution_seconds";

/**
 * The series of SGLang 0.4.6 to 0.5.23 (`--enable-metrics`). Tokens and requests are counted when a request ends, and each one has cached
 * tokens either by source or as `total`. Priorities of a gauge are parts of the gauge without a priority.
 * Source: sglang/srt/observability/metrics_collector.py of the published packages.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "sglang:prompt_tokens"),
  whole(
    "computed_prompt_tokens",
    ["sglang:prefill_effective_tokens", { mode: "input" }],
    ["sglang:realtime_tokens", { mode: "prefill_compute" }],
  ),
  whole("cached_device_tokens", ["sglang:cached_tokens", { cache_source: "device" }]),
  whole("cached_host_tokens", ["sglang:cached_tokens", { cache_source: "host" }]),
  whole("cached_tokens", ["sglang:cached_tokens", { cache_source: ["total", ""] }]),
  // Storages have names of their own from 0.5.12 on.
  whole("cached_external_tokens", "sglang:cached_tokens"),
  whole("recomputed_tokens", { all: ["sglang:num_retracted_input_tokens", "sglang:num_retracted_output_tokens"] }),
  whole("generation_tokens", "sglang:generation_tokens"),
  whole("requests", "sglang:num_requests"),
  whole("requests_abort", "sglang:num_aborted_requests"),
  whole("preemptions", "sglang:num_retracted_requests"),
  whole("drafts", "sglang:spec_verify_calls"),
  seconds("queue_us", "sglang:queue_time_seconds_sum"),
  seconds("gpu_prefill_us", [PASSES, { category: ["extend", "split_prefill", "dllm_extend"] }]),
  seconds("gpu_decode_us", [PASSES, { category: ["decode", "target_verify", "draft_extend", "draft_extend_v2"] }]),
  // A mixed pass has prefill and decode. It counts for neither alone.
  seconds("compute_us", [PASSES, { category: "mixed" }]),
  seconds("idle_us", "sglang:scheduler_idle_seconds"),
  flops("gigaflops", "sglang:estimated_flops_per_gpu"),
  bytes("read_megabytes", "sglang:estimated_read_bytes_per_gpu"),
  bytes("written_megabytes", "sglang:estimated_write_bytes_per_gpu"),
  whole("running", ["sglang:num_running_reqs", { priority: "" }]),
  whole("waiting", ["sglang:num_queue_reqs", { priority: "" }]),
  ratio("kv_cache_ppm", "sglang:token_usage"),
];

/** SGLang. Ranks of tensor and pipeline parallelism report the same work. Data-parallel ranks and roles are parts. */
export const sglang: ServingDialect = {
  exporter: "sglang",
  kind: "engine",
  table: TABLE,
  owns: (name) => name.startsWith("sglang:"),
  model: ["model_name"],
  part: ["engine_type", "dp_rank"],
  whole: "unified",
  ranks: ["pp_rank", "tp_rank", "moe_ep_rank"],
  totals: { compute_us: ["gpu_prefill_us", "gpu_decode_us"] },
  traps: {
    "sglang:realtime_tokens": "it does not count the first token of each request; the counters of ended requests do",
  },
};
