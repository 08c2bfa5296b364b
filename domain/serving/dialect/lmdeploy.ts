import { ENDS, endsOfRequests, ratio, seconds, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of LMDeploy's API server. The reasons of ends are the names of a Python enumeration.
 * Source: lmdeploy/metrics/loggers.py of the published package 0.18.0.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "lmdeploy:prompt_tokens"),
  whole("cached_tokens", "lmdeploy:cached_tokens"),
  whole("generation_tokens", "lmdeploy:generation_tokens"),
  ...endsOfRequests("lmdeploy:request_success", "finished_reason", {
    requests_stop: ["ResponseType.FINISH", "ResponseType.SUCCESS"],
    requests_abort: ["ResponseType.CANCEL"],
    requests_error: [
      "ResponseType.ENGINE_STOP_ERROR",
      "ResponseType.INPUT_LENGTH_ERROR",
      "ResponseType.INTERNAL_ENGINE_ERROR",
      "ResponseType.OUT_OF_MEMORY",
    ],
  }),
  whole("drafts", "lmdeploy:spec_decode_num_drafts"),
  whole("draft_tokens", "lmdeploy:spec_decode_num_draft_tokens"),
  whole("accepted_tokens", "lmdeploy:spec_decode_num_accepted_tokens"),
  seconds("queue_us", "lmdeploy:request_queue_time_seconds_sum"),
  seconds("prefill_us", "lmdeploy:request_prefill_time_seconds_sum"),
  seconds("decode_us", "lmdeploy:request_decode_time_seconds_sum"),
  seconds("compute_us", "lmdeploy:request_inference_time_seconds_sum"),
  whole("running", "lmdeploy:num_requests_running"),
  whole("waiting", "lmdeploy:num_requests_waiting"),
  ratio("kv_cache_ppm", "lmdeploy:gpu_cache_usage_perc"),
];

/** LMDeploy. Each data-parallel engine is a part. */
export const lmdeploy: ServingDialect = {
  exporter: "lmdeploy",
  kind: "engine",
  table: TABLE,
  owns: (name) => name.startsWith("lmdeploy:"),
  model: ["model_name"],
  part: ["engine"],
  totals: { requests: ENDS.filter((end) => end !== "requests_length") },
  traps: { "lmdeploy:iteration_tokens_total": "it is a histogram of the tokens of each step, in spite of its name" },
};
