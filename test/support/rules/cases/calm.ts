import { CATALOG } from "../../../../alerts/catalog/catalog.ts";
import { gives, silent, type Expectation, type InputSeries, type RuleCase } from "../case.ts";
import { dcgm, exporterUp, series, type RawGpu } from "../fleet.ts";

/** More than three hours at 30 s. */
const STEPS = 390;
const NODES = ["node-1", "node-2"];
const GPUS = [0, 1];
/** A day earlier: promtool's time begins at 0. */
const LONG_AGO = -86_400;

/** Every counter that rules read, of a healthy GPU that works. */
const WELL: Readonly<Record<string, string>> = {
  DCGM_FI_PROF_GR_ENGINE_ACTIVE: "0.9",
  DCGM_FI_PROF_SM_ACTIVE: "0.8",
  DCGM_FI_DEV_GPU_UTIL: "97",
  DCGM_FI_DEV_FB_USED: "60000",
  DCGM_FI_DEV_FB_FREE: "20000",
  DCGM_FI_DEV_GPU_TEMP: "60",
  DCGM_FI_DEV_MEMORY_TEMP: "70",
  DCGM_FI_DEV_SLOWDOWN_TEMP: "90",
  DCGM_FI_DEV_GPU_MAX_OP_TEMP: "87",
  DCGM_FI_DEV_MEM_MAX_OP_TEMP: "95",
  DCGM_FI_DEV_GPU_TEMP_LIMIT: "30",
  DCGM_FI_DEV_CLOCKS_EVENT_REASONS: "4",
  DCGM_FI_DEV_XID_ERRORS: "0",
  DCGM_FI_DEV_ECC_DBE_VOL_TOTAL: "0",
  DCGM_FI_DEV_RETIRED_PENDING: "0",
  DCGM_FI_DEV_ROW_REMAP_PENDING: "0",
  DCGM_FI_DEV_ROW_REMAP_FAILURE: "0",
  DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS: "2",
  DCGM_FI_DEV_PCIE_REPLAY_COUNTER: "7",
  DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL: "1",
  DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL: "40",
  DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL: "0",
  DCGM_EXP_GPU_HEALTH_STATUS: "0",
};
const ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION";

/** The values at each of the steps: a value, the end of a series, or nothing. */
type Values = (value: string) => string;

const always: Values = (value) => `${value}x${STEPS}`;
const podOf = (node: string, gpu: number): string => `train-${node}-${gpu}`;

/** A GPU's series. The energy counter grows by 500 W. */
function gpuSeries(of: RawGpu, values: Values, changed: Readonly<Record<string, string>> = {}): readonly InputSeries[] {
  const grows = values("ENERGY").replaceAll(/ENERGYx(\d+)/g, "1000000+15000000x$1");
  return [
    ...Object.entries({ ...WELL, ...changed }).map(([name, value]) => dcgm(name, values(value), of)),
    dcgm(ENERGY, grows, of),
  ];
}

/** The series of Kubernetes and of a processor about a pod while it exists. */
function podSeries(node: string, pod: string, values: Values, startSeconds = LONG_AGO): readonly InputSeries[] {
  const key = { namespace: "ml", pod };
  const resource = { container: "main", node, resource: "nvidia_com_gpu", unit: "integer" };
  const state = { job: "kube-state-metrics" };
  const owner = { owner_kind: "Job", owner_name: "train", owner_is_controller: "true" };
  const workload = { team: "vision", workload: "train", workload_type: "training", queue: "gpu" };
  return [
    series("kube_pod_container_resource_requests", values("1"), { ...key, ...resource, ...state }),
    series("kube_pod_info", values("1"), { ...key, node, ...state }),
    series("kube_pod_owner", values("1"), { ...key, ...owner, ...state }),
    series("kube_pod_start_time", values(String(startSeconds)), { ...key, ...state }),
    series("kube_pod_status_phase", values("1"), { ...key, phase: "Running", ...state }),
    series("gpu_workload_info", values("1"), { ...key, uid: pod, ...workload, job: "gpu-ledger-processor" }),
    series("gpu_workload_cost_per_hour", values("3.9"), { ...key, currency: "USD", job: "gpu-ledger-processor" }),
  ];
}

function nodeSeries(node: string): readonly InputSeries[] {
  const resource = { node, resource: "nvidia_com_gpu", unit: "integer", job: "kube-state-metrics" };
  return [
    series("kube_node_status_capacity", always(String(GPUS.length)), resource),
    series("kube_node_status_allocatable", always(String(GPUS.length)), resource),
    series("gpu_node_inventory_gpus", always(String(GPUS.length)), { node, job: "gpu-ledger-processor" }),
  ];
}

/** Two nodes of two GPUs, each held by a pod of its own that keeps it busy. */
function fleet(
  values: Values = always,
  more: { readonly up?: string; readonly changed?: Readonly<Record<string, string>> } = {},
): readonly InputSeries[] {
  return NODES.flatMap((node) => [
    ...nodeSeries(node),
    exporterUp(more.up ?? always("1"), { node }),
    ...GPUS.flatMap((gpu) => {
      const pod = podOf(node, gpu);
      return [
        ...gpuSeries({ node, gpu, labels: { namespace: "ml", pod } }, values, more.changed),
        ...podSeries(node, pod, always),
      ];
    }),
  ]);
}

/** The expectation that no alert fires, at any time that an alert may wait for, and that all four pods are seen. */
const NOTHING: readonly Expectation[] = [
  ...gives("count(gpu:pod_activity:ratio)", { "{}": NODES.length * GPUS.length }, "2h"),
  ...CATALOG.flatMap(({ name }) =>
    silent(name, "1m", "6m", "16m", "31m", "1h5m", "1h31m", "1h36m", "2h6m", "2h31m", "3h10m"),
  ),
];

/** The exporter's pods are replaced after an hour: other targets report the same GPUs. */
function rolledOut(): readonly InputSeries[] {
  const before: Values = (value) => `${value}x119 stale`;
  const after: Values = (value) => `_x124 ${value}x${STEPS - 124}`;
  const ofTarget = (of: RawGpu, instance: string): RawGpu => ({ ...of, labels: { ...of.labels, instance } });
  return NODES.flatMap((node) => [
    ...nodeSeries(node),
    exporterUp(before("1"), { node }),
    series("up", after("1"), {
      job: "dcgm-exporter",
      instance: `${node}:9401`,
      namespace: "gpu-operator",
      pod: `new-${node}`,
    }),
    ...GPUS.flatMap((gpu) => {
      const pod = podOf(node, gpu);
      const of = { node, gpu, labels: { namespace: "ml", pod } };
      // Both targets report the XID that the driver has latched. It is not new.
      const latched = { DCGM_FI_DEV_XID_ERRORS: "31" };
      return [
        ...gpuSeries(of, before, latched),
        ...gpuSeries(ofTarget(of, `${node}:9401`), after, latched),
        ...podSeries(node, pod, always),
      ];
    }),
  ]);
}

/** Every 25 minutes another pod starts. For its first five minutes, while it loads data, its GPU is idle. */
function comingAndGoing(): readonly InputSeries[] {
  const length = 50;
  const pods = Array.from({ length: Math.ceil(STEPS / length) }, (_, index) => index);
  return NODES.flatMap((node) => [
    ...nodeSeries(node),
    exporterUp(always("1"), { node }),
    ...GPUS.flatMap((gpu) =>
      pods.flatMap((index) => {
        const pod = `${podOf(node, gpu)}-${index}`;
        const gap = index === 0 ? "" : `_x${index * length} `;
        const while_: Values = (value) => `${gap}${value}x${length - 1} stale`;
        const working = `${gap}0x9 0.9x${length - 11} stale`;
        const of = { node, gpu, labels: { namespace: "ml", pod } };
        return [
          ...gpuSeries(of, while_).map((each) =>
            each.series.startsWith("DCGM_FI_PROF_GR_ENGINE_ACTIVE") ? { ...each, values: working } : each,
          ),
          ...podSeries(node, pod, while_, index * length * 30),
        ];
      }),
    ),
  ]);
}

/** Cases in which nothing is wrong and no alert of all fires. */
export const CALM_CASES: readonly RuleCase[] = [
  {
    name: "nothing fires on a fleet that works, from a Prometheus' first minute on",
    input: fleet(),
    expect: NOTHING,
  },
  {
    name: "nothing fires over gaps of four minutes, and exporters that restart with their counters at 0",
    input: fleet((value) => `${value}x99 stale _x7 ${value}x99 stale _x7 ${value}x${STEPS - 216}`, {
      up: `1x99 0x7 1x99 0x7 1x${STEPS - 216}`,
    }),
    expect: NOTHING,
  },
  {
    name: "nothing fires for codes that were latched before Prometheus' first scrape",
    input: fleet(always, { changed: { DCGM_FI_DEV_XID_ERRORS: "79", DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS: "5" } }),
    expect: NOTHING,
  },
  {
    name: "nothing fires while exporters are rolled out",
    input: rolledOut(),
    expect: NOTHING,
  },
  {
    name: "nothing fires for pods that come and go",
    input: comingAndGoing(),
    expect: NOTHING,
  },
];
