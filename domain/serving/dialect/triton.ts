import { ratio, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of Triton Inference Server, with those of its TensorRT-LLM backend. Its durations are microseconds.
 * Source: https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/metrics.html
 */
const TABLE: readonly ServingRow[] = [
  whole("requests", "nv_inference_request_success"),
  whole("requests_abort", ["nv_inference_request_failure", { reason: "CANCELED" }]),
  whole("requests_error", "nv_inference_request_failure"),
  whole("inferences", "nv_inference_count"),
  whole("batches", "nv_inference_exec_count"),
  whole("queue_us", "nv_inference_queue_duration_us"),
  whole("compute_us", "nv_inference_compute_infer_duration_us"),
  whole("running", ["nv_trt_llm_request_metrics", { request_type: "scheduled" }]),
  whole("waiting", ["nv_trt_llm_request_metrics", { request_type: "waiting" }], "nv_inference_pending_request_count"),
  ratio("kv_cache_ppm", ["nv_trt_llm_kv_cache_block_metrics", { kv_cache_block_type: "fraction" }]),
];

/** Triton Inference Server: a row for each version of a model. */
export const triton: ServingDialect = {
  exporter: "triton",
  kind: "engine",
  table: TABLE,
  owns: (name) => /^nv_(inference|trt_llm|model|ensemble|cache|gpu|energy|cpu|pinned_memory)_/.test(name),
  model: ["model"],
  part: ["version"],
  // Its backend for vLLM counts the requests of a model, too.
  beside: ["requests", "requests_abort", "requests_error"],
  totals: { requests: ["requests_abort", "requests_error"] },
};
