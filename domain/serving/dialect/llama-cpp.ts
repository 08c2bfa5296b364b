import { seconds, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of llama.cpp's server (`--metrics`). Its prompt tokens are those that were processed, without those of its cache. Its times are
 * sums over slots. The pages name no model.
 * Source: tools/server/README.md of https://github.com/ggml-org/llama.cpp.
 */
const TABLE: readonly ServingRow[] = [
  whole("computed_prompt_tokens", "llamacpp:prompt_tokens"),
  whole("generation_tokens", "llamacpp:tokens_predicted"),
  seconds("prefill_us", "llamacpp:prompt_seconds"),
  seconds("decode_us", "llamacpp:tokens_predicted_seconds"),
  whole("running", "llamacpp:requests_processing"),
  whole("waiting", "llamacpp:requests_deferred"),
];

/** llama.cpp. */
export const llamaCpp: ServingDialect = {
  exporter: "llama.cpp",
  kind: "engine",
  table: TABLE,
  owns: (name) => name.startsWith("llamacpp:"),
  model: ["model", "model_name"],
};
