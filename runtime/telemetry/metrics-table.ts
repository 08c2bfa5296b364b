import type { MetricDefinition } from "./metric-definition.ts";
import { METRIC_DEFINITIONS } from "./metrics.ts";

/** Returns docs/metrics.md: every metric of the program. */
export function renderMetricsTable(): string {
  const definitions: readonly MetricDefinition[] = Object.values(METRIC_DEFINITIONS);
  const rows = definitions.map(({ name, type, labels, help }) => {
    const kind = [type, ...labels.map((label) => `\`${label}\``)].join(", ");
    return `- \`${name}\` (${kind}): ${help}`;
  });
  return [
    "# Metrics of gpu-ledger itself",
    "",
    "The metrics of the program at `/metrics`. `metrics.otlp` sends them to an OTLP endpoint too, under the same names. Written by",
    "`npm run generate` from `runtime/telemetry/metrics.ts`. Parentheses have the type and the labels.",
    "",
    ...rows,
    "",
  ].join("\n");
}
