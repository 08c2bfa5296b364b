import { seconds, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of Hugging Face's Text Generation Inference. Tokens are the sums of histograms over ended requests. A batch is a pass of the
 * engine on its GPUs. The pages name no model.
 * Source: https://huggingface.co/docs/text-generation-inference/reference/metrics
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "tgi_request_input_length_sum"),
  whole("generation_tokens", "tgi_request_generated_tokens_sum"),
  whole("requests", "tgi_request_success"),
  whole("requests_error", "tgi_request_failure"),
  seconds("queue_us", "tgi_request_queue_duration_sum"),
  seconds("gpu_prefill_us", ["tgi_batch_inference_duration_sum", { method: "prefill" }]),
  seconds("gpu_decode_us", ["tgi_batch_inference_duration_sum", { method: "decode" }]),
  seconds("compute_us", "tgi_request_inference_duration_sum"),
  whole("running", "tgi_batch_current_size"),
  whole("waiting", "tgi_queue_size"),
];

/** Text Generation Inference. */
export const tgi: ServingDialect = {
  exporter: "tgi",
  kind: "engine",
  table: TABLE,
  owns: (name) => name.startsWith("tgi_"),
  model: ["model_id", "model_name"],
  totals: { requests: ["requests_error"] },
  traps: {
    tgi_request_count: "it counts requests as they arrive, also those that have not ended",
    tgi_request_mean_time_per_token_duration: "it is a sum of means, not a duration",
  },
};
