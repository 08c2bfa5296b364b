import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { keysOf, listed } from "../series/keys.ts";
import { ownServices } from "../series/own.ts";

/** The cost of a million tokens of a service and model in the last ended hour, loaded and busy. */
export const TOKEN_COST = "service:cost_per_million_tokens:max";
/** The loaded cost of a million tokens, averaged over a day. */
export const TOKEN_COST_DAY = "service:cost_per_million_tokens:avg1d";
/** The part of the last ended hour in which the engines of a service had no request. */
export const IDLE_RATIO = "service:idle:ratio";
/** The waiting requests of a service, averaged over the last ended hour. */
export const WAITING_REQUESTS = "service:waiting_requests:max";
/** The engines of a service that had hardly any request in the last ended hour. */
export const IDLE_ENGINES = "service:idle_engines:max";

/**
 * Returns the rules for inference services, from the metrics of the leading processor. Each has one result for a service (or for each of
 * its models), also while one leader takes over from another.
 */
export function serviceRules(options: AlertOptions): readonly RecordingRule[] {
  const service = ["team", keysOf(options).cluster, "namespace", "workload"];
  const over = (aggregate: "max" | "min", name: string, labels: readonly string[] = []): string =>
    `${aggregate} by (${listed([...service, ...labels])}) (${ownServices(options, `gpu_ledger_serving_${name}`)})`;
  return [
    { record: TOKEN_COST, expr: over("max", "cost_per_million_tokens", ["model", "cost"]) },
    { record: TOKEN_COST_DAY, expr: `max without (cost) (avg_over_time(${TOKEN_COST}{cost="loaded"}[1d]))` },
    {
      record: "service:cost_per_hour:sum",
      expr: `sum by (${listed(service)}) (${over("max", "cost_per_hour", ["model"])})`,
    },
    { record: "service:engines:max", expr: over("max", "engines") },
    { record: IDLE_RATIO, expr: over("min", "idle_ratio") },
    { record: WAITING_REQUESTS, expr: over("max", "waiting_requests") },
    { record: IDLE_ENGINES, expr: over("max", "idle_engines") },
  ];
}
