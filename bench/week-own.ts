import { SECONDS, type MetricDefinition } from "../runtime/telemetry/metric-definition.ts";
import { METRIC_DEFINITIONS } from "../runtime/telemetry/metrics.ts";
import { between, familyOf, FROM, QUICK, type Labels, type WeekFamily } from "./week.ts";

/** Collectors and processors. */
const INSTANCES = 4;
const numbered = (word: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `${word}${number}`);
/** Values of labels with values that are not known in advance. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  cluster: numbered("prod-", 4),
  team: numbered("team-", 20),
  partition: numbered("", 16),
  reason: ["Unschedulable", "Queued"],
  outcome: ["ok", "timeout", "refused"],
  kind: ["usage", "rollup", "charges"],
  resource: ["pods", "nodes"],
  code: ["410", "503"],
  alert: ["GPUNearSlowdown", "GPUThrottled"],
  counter: ["DCGM_FI_DEV_GPU_TEMP_LIMIT"],
};

/** Returns the families of gpu-ledger's own metrics. Every instance has its own partitions. Only the leader has the series of waiting pods. */
export function ownFamilies(): readonly WeekFamily[] {
  const definitions: readonly MetricDefinition[] = Object.values(METRIC_DEFINITIONS);
  const own = definitions.map((definition) => {
    const { name, type } = definition;
    return ofInstances(type === "histogram" ? `${name}_bucket` : name, seriesOf(definition), type !== "gauge");
  });
  const ofProcess = [
    ofInstances("process_resident_memory_bytes", [{}], false),
    ofInstances("process_cpu_seconds_total", [{}], true),
  ];
  return [...own, ...ofProcess];
}

function seriesOf({ type, labels, known, buckets = SECONDS }: MetricDefinition): readonly Labels[] {
  const le = [...buckets.map(String), "+Inf"];
  const all = labels.map((label) => [label, label === labels[0] ? (known ?? VALUES[label]) : VALUES[label]] as const);
  return [...all, ...(type === "histogram" ? [["le", le] as const] : [])].reduce<readonly Labels[]>(
    (series, [label, values = ["any"]]) =>
      series.flatMap((each) => values.map((value) => ({ ...each, [label]: value }))),
    [{}],
  );
}

function ofInstances(name: string, series: readonly Labels[], isCounter: boolean): WeekFamily {
  const length = series.some(({ team }) => team !== undefined) ? 1 : INSTANCES;
  const all = Array.from({ length }, (_, instance) =>
    series.map((labels, index) => {
      const { partition } = labels;
      const own: Labels =
        partition === undefined ? {} : { partition: String(Number(partition) * INSTANCES + instance) };
      const target = { job: "gpu-ledger", instance: `10.9.1.${instance}:8080` };
      return { labels: { ...labels, ...own, ...target }, step: index + 1, isShown: true };
    }),
  ).flat();
  const growing = (at: number, { step }: (typeof all)[0]): number => ((at - FROM) / QUICK) * step;
  return familyOf(name, QUICK, all, ({ labels }) => labels, isCounter ? growing : between(0, 900));
}
