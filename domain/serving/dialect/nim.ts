import { ENDS, endsOfRequests, ratio, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of NVIDIA NIM for language models, 1.x (`/v1/metrics`).
 * Source: https://docs.nvidia.com/nim/large-language-models/latest/observability.html.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "prompt_tokens"),
  whole("generation_tokens", "generation_tokens"),
  ...endsOfRequests("request_finish", "finished_reason", {
    requests_stop: ["stop"],
    requests_length: ["length"],
    requests_abort: ["abort"],
    requests_error: ["error"],
  }),
  whole("running", "num_requests_running"),
  whole("waiting", "num_requests_waiting"),
  // The name ends in _perc, and the value is a ratio.
  ratio("kv_cache_ppm", "gpu_cache_usage_perc"),
];

const NAMES =
  /^(prompt_tokens|generation_tokens|request_finish|num_requests_running|num_requests_waiting|gpu_cache_usage_perc)(_total|_created)?$/;

/** NIM. Its names have no prefix, so the dialect owns exactly these. Releases with the names of vLLM have both. */
export const nim: ServingDialect = {
  exporter: "nim",
  kind: "engine",
  table: TABLE,
  owns: (name) => NAMES.test(name),
  model: ["model_name", "model"],
  totals: { requests: ENDS },
  beside: "all",
};
