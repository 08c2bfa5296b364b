import { seconds, whole, type ServingDialect, type ServingRow } from "./dialect.ts";

/**
 * The series of KServe's own Python servers, for models without tokens.
 * Source: kserve/metrics.py of the published package.
 */
const TABLE: readonly ServingRow[] = [
  whole("requests", "request_predict_seconds_count"),
  seconds("compute_us", "request_predict_seconds_sum"),
];

/** A Python server of KServe. Its names have no prefix, so the dialect owns exactly these. */
export const kserve: ServingDialect = {
  exporter: "kserve",
  kind: "engine",
  table: TABLE,
  owns: (name) => /^request_(preprocess|predict|postprocess|explain)_seconds_/.test(name),
  model: ["model_name"],
};
