import { whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/** The series that llm-d proposes for its payload processor. No release has them yet. */
const TABLE: readonly ServingRow[] = [
  whole("prompt_tokens", "ipp_inference_prompt_tokens"),
  whole("generation_tokens", "ipp_inference_completion_tokens"),
  whole("requests", "ipp_inference_request"),
];

/** llm-d's payload processor. Its tenants come from the header `x-tenant-id`. */
export const llmd: ServingDialect = {
  exporter: "llm-d",
  kind: "gateway",
  table: TABLE,
  owns: (name) => name.startsWith("ipp_inference_"),
  model: ["serving_model", "requested_model"],
  tenant: ["tenant", "workload"],
};
