import { FROM, hash, UNTIL, type WeekFleet } from "./fleet.ts";
import {
  always,
  between,
  DAY,
  familyOf,
  FOUR_MINUTES,
  HOUR,
  MINUTE,
  QUICK,
  type Labels,
  type WeekFamily,
  type WeekSeries,
} from "./series.ts";

/** The pods on every node that hold no GPUs. */
const DAEMONS = ["proxy", "dcgm-exporter", "nvidia-device-plugin", "node-exporter", "cni", "csi-node", "log-agent"];
const USES = ["total", "held", "active", "effective"] as const;
const BOUNDS = ["0", "5", "10", "15", "20", "25", "30", "35", "40", "50", "+Inf"];
const GPUS = 8;
/** A GPU of every tenth node is missing for an hour of the third day, and in the last hour. */
const MISSING = { every: 10, times: [FROM + 2 * DAY, UNTIL - HOUR].map((from) => ({ from, until: from + HOUR })) };

const STATE: Labels = { job: "kube-state-metrics", instance: "10.9.0.1:8080" };
const VERSIONS: Labels = {
  ...STATE,
  label_nvidia_com_cuda_driver_version_full: "550.144.03",
  label_nvidia_com_cuda_runtime_version_full: "12.8",
};
const FIRING: Labels = { alertname: "GPUIdle", alertstate: "firing", severity: "info", gpu_topic: "waste" };

/** Yields the recorded series of nodes, Kubernetes' series of them, and the firing alerts. */
export function nodeFamilies({ nodes }: WeekFleet): readonly WeekFamily[] {
  const all = nodes.map((node) => ({ ...node, keys: { cluster: node.cluster, node: node.name } }));
  const ofNodes = (
    { name, seconds, isReadWhole = false }: { name: string; seconds: number; isReadWhole?: boolean },
    more: Labels,
    valueOf: (number: number) => WeekSeries["valueAt"],
  ): WeekFamily =>
    familyOf({ name, seconds, isReadWhole }, all, ({ keys, number }) => ({
      labels: { ...keys, ...more },
      valueAt: valueOf(number),
    }));
  const devices = (number: number): WeekSeries["valueAt"] => {
    const isMissing = (at: number): boolean => MISSING.times.some(({ from, until }) => at >= from && at < until);
    return (at) => (number % MISSING.every === 0 && isMissing(at) ? GPUS - 1 : GPUS);
  };
  const uses = all.flatMap((node) => USES.map((use) => ({ ...node, use })));
  const daemons = all.flatMap(({ keys, number }) =>
    DAEMONS.map((name) => ({ keys, name, pod: `${name}-${hash(number, name.length)}` })),
  );
  const missing = all
    .filter(({ number }) => number % MISSING.every === 0)
    .flatMap(({ keys }) => MISSING.times.map((time) => ({ keys, ...time })));
  return [
    familyOf({ name: "node:gpus_by_use:sum", seconds: MINUTE }, uses, ({ keys, model, use, number }) => ({
      labels: { ...keys, modelName: model, use },
      valueAt: use === "total" ? always(GPUS) : between(GPUS / 2, GPUS, number),
    })),
    ofNodes({ name: "node:gpu_devices:count", seconds: QUICK }, {}, devices),
    ofNodes({ name: "node:gpu_devices:max1d", seconds: FOUR_MINUTES }, {}, () => always(GPUS)),
    ofNodes({ name: "node:temperature_left:min5m", seconds: FOUR_MINUTES, isReadWhole: true }, {}, (number) =>
      between(4, 30, number),
    ),
    familyOf(
      { name: "node:gpus_missing:count", seconds: MINUTE, isReadWhole: true },
      missing,
      ({ keys, from, until }) => ({
        labels: keys,
        from,
        until,
        valueAt: always(1),
      }),
    ),
    ofNodes({ name: "ALERTS", seconds: QUICK }, FIRING, () => always(1)),
    ofNodes({ name: "kube_node_labels", seconds: QUICK }, VERSIONS, () => always(1)),
    familyOf({ name: "kube_pod_container_info", seconds: QUICK }, daemons, ({ keys, name, pod }) => ({
      labels: {
        ...STATE,
        cluster: keys.cluster,
        namespace: "kube-system",
        pod,
        container: name,
        image: `registry/${name}:1.2`,
      },
      valueAt: always(1),
    })),
  ];
}

/** Yields the recorded series of clusters and teams. */
export function clusterFamilies({ nodes, pods }: WeekFleet): readonly WeekFamily[] {
  const clusters = [...new Set(nodes.map(({ cluster }) => cluster))];
  const models = [...new Set(nodes.map(({ model }) => model))];
  const ofAll = (
    { name, seconds }: { name: string; seconds: number },
    keys: readonly Labels[],
    [least, most]: readonly [least: number, most: number],
  ): WeekFamily =>
    familyOf({ name, seconds, isReadWhole: true }, keys, (labels) => ({
      labels,
      valueAt: between(least, most, JSON.stringify(labels).length),
    }));
  const uses = clusters.flatMap((cluster) =>
    models.flatMap((modelName) => USES.map((use) => ({ cluster, modelName, use }))),
  );
  const bounds = clusters.flatMap((cluster) => BOUNDS.map((le) => ({ cluster, le })));
  const holding = pods.map(
    ({ gpu, team }) => [`${gpu.node.cluster} ${team}`, { cluster: gpu.node.cluster, team }] as const,
  );
  const teams = [...new Map(holding).values()];
  return [
    ofAll({ name: "cluster:gpus_by_use:sum", seconds: MINUTE }, uses, [0, 1_000]),
    ofAll({ name: "cluster:nodes_by_temperature_left:count", seconds: MINUTE }, bounds, [0, 312]),
    ofAll({ name: "team:gpus_held:count", seconds: FOUR_MINUTES }, teams, [0, 16]),
    ofAll({ name: "team:gpus_idle_day:count", seconds: FOUR_MINUTES }, teams, [0, 4]),
  ];
}
