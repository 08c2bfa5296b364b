import { whole, type LabelValues, type SeriesName, type ServingDialect, type ServingRow } from "./dialect.ts";

/** OpenTelemetry's exporters add the unit to a name or leave it out. */
const usage = (when: LabelValues): readonly SeriesName[] =>
  ["gen_ai_client_token_usage_token_sum", "gen_ai_client_token_usage_sum"].map((name) => [name, when]);
const ended = (when: LabelValues): readonly SeriesName[] =>
  [
    "gen_ai_server_request_duration_seconds_count",
    "gen_ai_server_request_duration_count",
    "gen_ai_client_operation_duration_seconds_count",
    "gen_ai_client_operation_duration_count",
  ].map((name) => [name, when]);

/**
 * OpenTelemetry's names for generative AI, as Envoy AI Gateway has them. They are in development. `cached_input` tokens are part of the
 * input.
 * Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ and internal/metrics/genai.go of Envoy AI Gateway.
 */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", ...usage({ gen_ai_token_type: "input" })),
  whole("cached_tokens", ...usage({ gen_ai_token_type: "cached_input" })),
  whole("generation_tokens", ...usage({ gen_ai_token_type: "output" })),
  whole("requests", ...ended({ error_type: "" })),
  whole("requests_error", ...ended({})),
];

/** A gateway with OpenTelemetry's names. The labels of tenants come from headers, as the gateway maps them. */
export const genai: ServingDialect = {
  exporter: "gen-ai",
  kind: "gateway",
  table: TABLE,
  owns: (name) => /^gen_ai_(client|server)_/.test(name),
  model: ["gen_ai_response_model", "gen_ai_request_model"],
  tenant: ["tenant", "tenant_id", "team", "team_id"],
  // A request without an answer.
  noValue: "unknown",
  totals: { requests: ["requests_error"] },
};
