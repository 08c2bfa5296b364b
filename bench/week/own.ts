import { METRIC_DEFINITIONS } from "../../runtime/telemetry/metrics.ts";
import { SECONDS, type MetricDefinition } from "../../runtime/telemetry/metric-definition.ts";
import { FROM } from "./fleet.ts";
import { between, familyOf, QUICK, type Labels, type WeekFamily, type WeekSeries } from "./series.ts";

/** Collectors and processors. */
const INSTANCES = 4;
const PARTITIONS = 64;
const numbered = (word: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `${word}${number}`);
/** Values of labels with values that are not known in advance. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  cluster: numbered("prod-", 4),
  team: numbered("team-", 20),
  partition: numbered("", PARTITIONS / INSTANCES),
  reason: ["Unschedulable", "Queued"],
  outcome: ["ok", "timeout", "refused"],
  kind: ["usage", "rollup", "charges"],
  resource: ["pods", "nodes"],
  code: ["410", "503"],
  alert: ["GPUNearSlowdown", "GPUThrottled"],
  counter: ["DCGM_FI_DEV_GPU_TEMP_LIMIT"],
};
const PROCESS = ["process_resident_memory_bytes", "process_cpu_seconds_total"];

/** Yields gpu-ledger's own metrics. */
export function ownFamilies(): readonly WeekFamily[] {
  const definitions: readonly MetricDefinition[] = Object.values(METRIC_DEFINITIONS);
  const own = definitions.map((definition) => {
    const name = definition.type === "histogram" ? `${definition.name}_bucket` : definition.name;
    return ofInstances(name, seriesOf(definition), definition.type !== "gauge");
  });
  return [...own, ...PROCESS.map((name) => ofInstances(name, [{}], name.endsWith("_total")))];
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

/** Every instance has its own partitions, and everything else like the others. Only the leader has the series of waiting pods. */
function ofInstances(name: string, series: readonly Labels[], isCounter: boolean): WeekFamily {
  const length = series.some(({ team }) => team !== undefined) ? 1 : INSTANCES;
  const all = Array.from({ length }, (_, instance) =>
    series.map((labels, index) => ({ labels: labeled(labels, instance), number: index + 1 })),
  ).flat();
  return familyOf({ name, seconds: QUICK, isReadWhole: true }, all, ({ labels, number }) => ({
    labels,
    valueAt: isCounter ? growing(number) : between(0, 900, number),
  }));
}

function labeled(labels: Labels, instance: number): Labels {
  const { partition } = labels;
  const own: Labels = partition === undefined ? {} : { partition: String(Number(partition) * INSTANCES + instance) };
  return { ...labels, ...own, job: "gpu-ledger", instance: `10.9.1.${instance}:8080` };
}

function growing(number: number): WeekSeries["valueAt"] {
  return (at) => ((at - FROM) / QUICK) * number;
}
