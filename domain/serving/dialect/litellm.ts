import { money, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of the LiteLLM proxy, 1.60 to 1.110. Its spend is a price list, not a cost of GPUs. `litellm_requests_metric` counts requests
 * that succeeded.
 * Source: litellm/integrations/prometheus.py of the published packages.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "litellm_input_tokens_metric", "litellm_input_tokens"),
  whole("cached_tokens", "litellm_input_cached_tokens_metric"),
  whole("generation_tokens", "litellm_output_tokens_metric", "litellm_output_tokens"),
  whole("requests", "litellm_requests_metric"),
  whole("requests_error", "litellm_llm_api_failed_requests_metric"),
  money("spend_nanos", "litellm_spend_metric"),
];

const SUM = "it is the sum of other series";

/** LiteLLM's proxy. The model is the deployment that answered. */
export const litellm: ServingDialect = {
  exporter: "litellm",
  kind: "gateway",
  table: TABLE,
  owns: (name) => name.startsWith("litellm_"),
  model: ["model", "litellm_model_name", "requested_model"],
  tenant: ["team_alias", "team", "api_key_alias"],
  // Python's text for an absent value.
  noValue: "None",
  totals: { requests: ["requests_error"] },
  traps: {
    litellm_total_tokens_metric: SUM,
    litellm_total_tokens: SUM,
    litellm_cached_tokens_metric: "answers from the gateway's own cache do not reach an engine",
    litellm_proxy_total_requests_metric: "it names no deployment; the requests of each deployment are counted",
  },
};
