import { TOPIC } from "../generate.ts";
import type { AlertOptions } from "../options.ts";
import { anyOf, quote } from "../promql.ts";

/** A rule of Alertmanager that suppresses alerts while another one fires. */
export interface Inhibition {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** The order of alerts about the same waste. Each suppresses those after it, for its pod. */
const WASTE_ORDER: readonly (readonly string[])[] = [
  ["GPUAllocatedIdle"],
  ["LowGPUUtilization"],
  ["GPUPodLowUtilization", "GPUSustainedLowUtilization", "GPUPodPartiallyIdle"],
];
/** A GPU close to its limit. Its driver slows it down then, which is the same heat. */
const WARM = ["GPUNearSlowdownTemperature", "GPUThermalMarginLow", "HighGPUTemperature"];
/** kubernetes-mixin's alerts of nodes that are gone. */
const NODE_GONE = ["KubeNodeNotReady", "KubeNodeUnreachable"];

/** Returns the inhibitions of alerts that a more serious alert covers. */
export function inhibitions({ clusterLabel, prefix }: AlertOptions): readonly Inhibition[] {
  const named = (names: readonly string[]): string =>
    anyOf(
      "alertname",
      names.map((name) => prefix + name),
    );
  const health = [
    anyOf(TOPIC, ["xid", "memory", "thermal", "links"]),
    `alertname!=${quote(`${prefix}HighGPUMemoryUsage`)}`,
  ];
  const sameGpu = [clusterLabel, "node", "UUID"];
  const waste = WASTE_ORDER.slice(0, -1).map((names, index) => ({
    // An alert that nobody is notified of suppresses nothing.
    source_matchers: [named(names), 'notify!="none"'],
    target_matchers: [named(WASTE_ORDER.slice(index + 1).flat())],
    equal: [clusterLabel, "namespace", "pod"],
  }));
  return [
    {
      // A critical alert of a GPU covers its warnings.
      source_matchers: ['severity="critical"', ...health],
      target_matchers: ['severity=~"warning|info"', ...health],
      equal: sameGpu,
    },
    {
      source_matchers: ['severity="critical"', `${TOPIC}="xid"`],
      target_matchers: [`${TOPIC}="thermal"`],
      equal: sameGpu,
    },
    {
      source_matchers: [named(WARM)],
      target_matchers: [named(["GPUSoftwareThermalThrottling"])],
      equal: sameGpu,
    },
    {
      source_matchers: [anyOf("alertname", NODE_GONE)],
      target_matchers: [anyOf(TOPIC, ["xid", "memory", "thermal", "links", "telemetry"]), 'node!=""'],
      equal: [clusterLabel, "node"],
    },
    ...waste,
  ];
}
