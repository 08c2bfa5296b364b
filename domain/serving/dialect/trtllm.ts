import { ENDS, endsOfRequests, ratio, seconds, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of TensorRT-LLM's `trtllm-serve` (`/prometheus/metrics`). Older releases have neither tokens nor the times of phases.
 * Source: tensorrt_llm/metrics/collector.py.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "trtllm_prompt_tokens"),
  whole("generation_tokens", "trtllm_generation_tokens"),
  ...endsOfRequests("trtllm_request_success", "finished_reason", {
    requests_stop: ["stop"],
    requests_length: ["length"],
    requests_abort: ["cancelled", "abort"],
    requests_error: ["error"],
  }),
  whole("draft_tokens", "trtllm_spec_decode_num_draft_tokens"),
  whole("accepted_tokens", "trtllm_spec_decode_num_accepted_tokens"),
  seconds("queue_us", "trtllm_request_queue_time_seconds_sum"),
  seconds("prefill_us", "trtllm_request_prefill_time_seconds_sum"),
  seconds("decode_us", "trtllm_request_decode_time_seconds_sum"),
  seconds("compute_us", "trtllm_request_inference_time_seconds_sum"),
  whole("running", "trtllm_num_requests_running"),
  whole("waiting", "trtllm_num_requests_waiting"),
  ratio("kv_cache_ppm", "trtllm_kv_cache_utilization"),
];

/** TensorRT-LLM, alone or as a worker of Dynamo. */
export const trtllm: ServingDialect = {
  exporter: "tensorrt-llm",
  kind: "engine",
  table: TABLE,
  owns: (name) => name.startsWith("trtllm_"),
  model: ["model_name", "model"],
  totals: { requests: ENDS },
  traps: { trtllm_time_per_output_token_seconds: "it is a sum of means, not a duration" },
};
