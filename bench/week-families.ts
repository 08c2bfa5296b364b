import {
  between,
  familyOf,
  FROM,
  hash,
  HOUR,
  QUICK,
  UNTIL,
  type Labels,
  type Subject,
  type WeekFamily,
  type WeekFleet,
  type WeekGpu,
  type WeekNode,
  type WeekPod,
} from "./week.ts";
import { ownFamilies } from "./week-own.ts";

type Value = (at: number, subject: Subject, index: number) => number;

/** The intervals of the rules' groups, in seconds. */
const MINUTE = 60;
const TWO_MINUTES = 120;
const FOUR_MINUTES = 240;
const DAY = 86_400;
const GPUS = 8;
const USES = ["total", "held", "active", "effective"] as const;
const BOUNDS = ["0", "5", "10", "15", "20", "25", "30", "35", "40", "50", "+Inf"];
/** The pods on every node that hold no GPUs. */
const DAEMONS = ["proxy", "dcgm-exporter", "nvidia-device-plugin", "node-exporter", "cni", "csi-node", "log-agent"];
/** A GPU of every tenth node is missing for an hour of the third day, and in the last hour. */
const MISSING = { every: 10, times: [FROM + 2 * DAY, UNTIL - HOUR].map((from) => ({ from, until: from + HOUR })) };
const CODES = ["13", "31", "48", "79", "94"];
const STATE: Labels = { job: "kube-state-metrics", instance: "10.9.0.1:8080" };
const VERSIONS: Labels = {
  label_nvidia_com_cuda_driver_version_full: "550.144.03",
  label_nvidia_com_cuda_runtime_version_full: "12.8",
};
const FIRING: Labels = { alertname: "GPUIdle", alertstate: "firing", severity: "info", gpu_topic: "waste" };

const always =
  (value: number): Value =>
  () =>
    value;
/** Subjects of which panels read all series over days, or only the current values. */
const shownAs = <Of extends Subject>(isShown: boolean, all: readonly Of[]): readonly Of[] =>
  all.map((each) => ({ ...each, isShown }));

const ofNode = ({ cluster, node }: WeekNode): Labels => ({ cluster, node });
const ofGpu = ({ cluster, node, UUID }: WeekGpu): Labels => ({ cluster, node, UUID });
const ofPod = ({ cluster, namespace, pod }: WeekPod): Labels => ({ cluster, namespace, pod });
const onGpu = (pod: WeekPod): Labels => ({ ...ofPod(pod), ...ofGpu(pod) });
/** Labels of kube-state-metrics. */
const inKubernetes = (pod: WeekPod): Labels => ({
  ...ofPod(pod),
  ...STATE,
  uid: `6f1c2b7a-0000-4000-8000-${String(hash(pod.number, pod.from)).padStart(12, "0")}`,
  container: "main",
});

/** Returns the families of the week: those of GPUs and their faults, of pods, nodes, clusters and teams, and of gpu-ledger. */
export function weekFamilies(fleet: WeekFleet): readonly WeekFamily[] {
  return [
    ...gpuFamilies(fleet),
    ...podFamilies(fleet),
    ...nodeFamilies(fleet),
    ...clusterFamilies(fleet),
    ...ownFamilies(),
  ];
}

function gpuFamilies({ gpus, pods, shown }: WeekFleet): readonly WeekFamily[] {
  const withModel = (gpu: WeekGpu): Labels => ({ ...ofGpu(gpu), modelName: gpu.modelName });
  const onPage = (gpu: WeekGpu): Labels => ({ ...withModel(gpu), instance: gpu.instance, gpu: String(gpu.gpu) });
  const days = Array.from({ length: (UNTIL - FROM) / DAY }, (_, day) => FROM + day * DAY);
  /**
   * Faults of few GPUs, which panels search over the whole week: of every n-th GPU on every day for some time. The last GPU, which is selected,
   * has all of them.
   */
  const fault = (name: string, seconds: number, every: number, lasts: number, more: Labels = {}): WeekFamily => {
    const some = gpus.filter(({ number }) => (gpus.length - 1 - number) % every === 0);
    const faults = some.flatMap((gpu) =>
      days.map((day) => {
        const from = day + (hash(gpu.number, day) % 20) * HOUR;
        return { ...gpu, from, until: from + lasts, isShown: true };
      }),
    );
    return familyOf(name, seconds, faults, (gpu) => ({ ...ofGpu(gpu), ...more }), always(1));
  };
  // For one pod of a hundred, and for those of the selected node.
  const failing = pods
    .filter(({ node }, index) => index % 100 === 0 || node === shown["node"])
    .map((pod) => ({ ...pod, at: Math.max(pod.from, FROM) + HOUR }))
    .map((pod) => ({ ...pod, from: pod.at, until: pod.at + QUICK, isShown: true }));
  const code = (pod: WeekPod): Labels => ({
    ...onGpu(pod),
    code: CODES[pod.number % CODES.length]!,
    source: "counter",
  });
  const shared = shownAs(
    false,
    gpus.filter(({ number }) => number % 20 === 0),
  );
  return [
    familyOf("gpu:exporter_gpu:info", MINUTE, gpus, onPage, always(1)),
    familyOf("gpu:model:info", MINUTE, gpus, withModel, always(1)),
    familyOf("gpu:device_activity:ratio", QUICK, gpus, ofGpu, between(0, 1)),
    familyOf("gpu:memory_used:ratio", MINUTE, gpus, ofGpu, between(0.4, 0.9)),
    familyOf("gpu:temperature:celsius", MINUTE, gpus, ofGpu, between(40, 80)),
    familyOf("gpu:temperature_left:celsius", MINUTE, gpus, ofGpu, between(4, 40)),
    familyOf(
      "gpu:slowdown_temperature:celsius",
      FOUR_MINUTES,
      gpus,
      (gpu) => ({ ...ofGpu(gpu), limit: "own" }),
      always(87),
    ),
    familyOf("gpu:device_replicas:count", MINUTE, shared, ofGpu, always(2)),
    fault("gpu:throttle_reason:info", QUICK, 20, 2 * HOUR, { reason: "sw_thermal" }),
    fault("gpu:ecc_double_bit_errors:count", TWO_MINUTES, 200, 4 * HOUR),
    fault("gpu:uncorrectable_remapped_rows:increase1d", FOUR_MINUTES, 500, 4 * HOUR),
    fault("gpu:row_remap_failure:info", TWO_MINUTES, 2_000, 4 * HOUR),
    fault("gpu:memory_repair_pending:info", TWO_MINUTES, 400, 4 * HOUR),
    fault("gpu:nvlink_crc_errors:rate5m", TWO_MINUTES, 80, HOUR),
    fault("gpu:pcie_replays:rate5m", TWO_MINUTES, 80, HOUR),
    fault("gpu:telemetry_frozen:info", FOUR_MINUTES, 1_000, HOUR),
    familyOf("gpu:xid_new:info", QUICK, failing, code, always(1)),
  ];
}

function podFamilies({ pods, shown }: WeekFleet): readonly WeekFamily[] {
  // A pod is shown if its node is selected, or its namespace.
  const ofNamespace = pods.map((pod) => ({ ...pod, isShown: pod.namespace === shown["namespace"] }));
  const now = shownAs(false, pods);
  const jobs = [...new Map(ofNamespace.map((pod) => [pod.workload, pod])).values()];
  const quantiles = jobs.flatMap((job) => ["0", "0.5", "1"].map((quantile) => ({ ...job, quantile })));
  const spread = (name: string): WeekFamily => {
    const labels = ({ cluster, namespace, workload, quantile }: (typeof quantiles)[0]): Labels => {
      return { cluster, namespace, workload, quantile };
    };
    return familyOf(name, TWO_MINUTES, quantiles, labels, between(0, 1));
  };
  const ofWorkload = (pod: WeekPod): Labels => ({ ...onGpu(pod), workload: pod.workload });
  const owned = (pod: WeekPod): Labels => ({
    ...ofPod(pod),
    team: pod.namespace,
    cost_centre: `CC-${pod.namespace}`,
    workload: pod.workload,
    workload_type: "Job",
    queue: "default",
  });
  /** Labels of dcgm-exporter. */
  const onPage = (pod: WeekPod): Labels => ({
    ...ofPod(pod),
    job: "dcgm-exporter",
    instance: pod.instance,
    gpu: String(pod.gpu),
    UUID: pod.UUID,
    pci_bus_id: `00000000:${(16 + pod.gpu).toString(16).toUpperCase()}:00.0`,
    device: `nvidia${pod.gpu}`,
    modelName: pod.modelName,
    Hostname: pod.node,
    DCGM_FI_DRIVER_VERSION: "550.144.03",
    container: "main",
  });
  const image = (pod: WeekPod): Labels => ({ ...inKubernetes(pod), image: `registry/${pod.namespace}/train:7` });
  return [
    spread("workload:gpu_activity:quantile"),
    spread("workload:gpu_memory_used:quantile"),
    familyOf("gpu:device_holder:info", MINUTE, pods, onGpu, always(1)),
    familyOf("gpu:pod_activity:ratio", MINUTE, now, onGpu, between(0, 1)),
    familyOf("gpu:workload_activity:ratio", TWO_MINUTES, ofNamespace, ofWorkload, between(0, 1)),
    familyOf("gpu:workload_memory_used:ratio", TWO_MINUTES, ofNamespace, ofWorkload, between(0.4, 0.9)),
    familyOf("gpu:workload:info", TWO_MINUTES, ofNamespace, owned, always(1)),
    familyOf("pod:gpu_start:timestamp", TWO_MINUTES, ofNamespace, ofPod, (_, { from }) => from),
    familyOf(
      "pod:gpu_cost_per_hour:sum",
      FOUR_MINUTES,
      now,
      (pod) => ({ ...ofPod(pod), currency: "USD" }),
      always(3.2),
    ),
    familyOf("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", QUICK, pods, onPage, between(0, 1)),
    familyOf("DCGM_FI_DEV_POWER_USAGE", QUICK, pods, onPage, between(120, 700)),
    familyOf("DCGM_FI_DEV_SM_CLOCK", QUICK, pods, onPage, between(1_200, 1_980)),
    familyOf("kube_pod_status_phase", QUICK, now, (pod) => ({ ...inKubernetes(pod), phase: "Pending" }), always(0)),
    familyOf("kube_pod_container_status_restarts_total", QUICK, ofNamespace, inKubernetes, (at, { from }) =>
      Math.floor((at - from) / DAY),
    ),
    familyOf("kube_pod_container_info", QUICK, now, image, always(1)),
  ];
}

function nodeFamilies({ nodes }: WeekFleet): readonly WeekFamily[] {
  const uses = nodes.flatMap((node) => USES.map((use) => ({ ...node, use })));
  const daemons = nodes.flatMap((node) => DAEMONS.map((name) => ({ ...node, name })));
  const isOfMissing = ({ nodeNumber }: WeekNode): boolean => nodeNumber % MISSING.every === 0;
  const isMissing = (at: number): boolean => MISSING.times.some(({ from, until }) => at >= from && at < until);
  const missing = nodes.filter(isOfMissing).flatMap((node) => MISSING.times.map((time) => ({ ...node, ...time })));
  const part = between(GPUS / 2, GPUS);
  const byUse = (node: (typeof uses)[0]): Labels => ({ ...ofNode(node), modelName: node.modelName, use: node.use });
  const images = ({ cluster, nodeNumber, name }: (typeof daemons)[0]): Labels => {
    const pod = `${name}-${hash(nodeNumber, name.length)}`;
    return { ...STATE, cluster, namespace: "kube-system", pod, container: name, image: `registry/${name}:1.2` };
  };
  return [
    familyOf("node:gpus_by_use:sum", MINUTE, uses, byUse, (at, node, index) =>
      node.use === "total" ? GPUS : part(at, node, index),
    ),
    familyOf("node:gpu_devices:count", QUICK, nodes, ofNode, (at, node) =>
      isOfMissing(node) && isMissing(at) ? GPUS - 1 : GPUS,
    ),
    familyOf("node:gpu_devices:max1d", FOUR_MINUTES, nodes, ofNode, always(GPUS)),
    familyOf("node:temperature_left:min5m", FOUR_MINUTES, shownAs(true, nodes), ofNode, between(4, 30)),
    familyOf("node:gpus_missing:count", MINUTE, shownAs(true, missing), ofNode, always(1)),
    familyOf("ALERTS", QUICK, nodes, (node) => ({ ...ofNode(node), ...FIRING }), always(1)),
    familyOf("kube_node_labels", QUICK, nodes, (node) => ({ ...ofNode(node), ...STATE, ...VERSIONS }), always(1)),
    familyOf("kube_pod_container_info", QUICK, daemons, images, always(1)),
  ];
}

/** The recorded series of clusters and teams. */
function clusterFamilies({ nodes, pods }: WeekFleet): readonly WeekFamily[] {
  const clusters = [...new Set(nodes.map(({ cluster }) => cluster))];
  const models = [...new Set(nodes.map(({ modelName }) => modelName))];
  const family = (name: string, seconds: number, all: readonly Labels[], most: number): WeekFamily => {
    const series = all.map((labels) => ({ labels, isShown: true }));
    return familyOf(name, seconds, series, ({ labels }) => labels, between(0, most));
  };
  const byModel = clusters.flatMap((cluster) => models.map((modelName) => ({ cluster, modelName })));
  const uses = byModel.flatMap((each) => USES.map((use) => ({ ...each, use })));
  const bounds = clusters.flatMap((cluster) => BOUNDS.map((le) => ({ cluster, le })));
  const holding = pods.map(
    ({ cluster, namespace }) => [`${cluster} ${namespace}`, { cluster, team: namespace }] as const,
  );
  const teams = [...new Map(holding).values()];
  return [
    family("cluster:gpus_by_use:sum", MINUTE, uses, 1_000),
    family("cluster:nodes_by_temperature_left:count", MINUTE, bounds, 312),
    family("team:gpus_held:count", FOUR_MINUTES, teams, 16),
    family("team:gpus_idle_day:count", FOUR_MINUTES, teams, 4),
  ];
}
