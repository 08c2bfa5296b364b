import { whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of a frontend of NVIDIA Dynamo. Its tokens are also counted by the engines behind it, so they count only if the engines have no
 * counters.
 * Source: dynamo/prometheus_names.py of the published ai-dynamo-runtime.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "dynamo_frontend_input_sequence_tokens_sum"),
  whole("cached_tokens", "dynamo_frontend_cached_tokens_sum"),
  whole("generation_tokens", "dynamo_frontend_output_tokens", "dynamo_frontend_output_sequence_tokens_sum"),
  whole("requests_error", ["dynamo_frontend_requests", { status: "error" }]),
  whole("requests", "dynamo_frontend_requests"),
  whole("running", "dynamo_frontend_inflight_requests"),
  whole("waiting", "dynamo_frontend_queued_requests"),
];

/** Dynamo's frontend. Pages of its workers have the series of their engine, which are read in the dialect of the engine. */
export const dynamo: ServingDialect = {
  exporter: "dynamo",
  kind: "frontend",
  table: TABLE,
  owns: (name) => name.startsWith("dynamo_"),
  model: ["model", "model_name"],
  totals: { requests: ["requests_error"] },
};
