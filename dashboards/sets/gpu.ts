import type { AlertOptions } from "../../alerts/options.ts";
import { keysOf } from "../../alerts/series/keys.ts";
import { read } from "../../alerts/series/read.ts";
import { cell, toPage, UIDS } from "../links.ts";
import type { Dashboard, Meanings } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import { goodBelow, numberOf, TENSOR, UTILIZATION } from "../thresholds.ts";
import { range, rows } from "../queries.ts";
import { labelVariable } from "../variables.ts";

const NO_GPU = "Choose a node with GPUs: the exporter of this node reports no GPU in this time.";
const HEALTHY = "No GPU of this node reported any in this time.";
/** A legend with one GPU of the fleet, and an instance of it. */
const GPU = "{{node}} {{UUID}}";
const DEVICE = `${GPU} {{GPU_I_ID}}`;
const IS_SO: Meanings = { "1": { text: "yes", color: "orange" } };

/** The names that panels use: the chosen node and GPUs, and the expression for an exporter's metric of only that node. */
interface Names {
  readonly cluster: string;
  readonly where: string;
  /** Returns the number of an alert above which the alert fires. */
  above(alert: string, parameter: string): number;
  metric(column: string): string;
  device(column: string): string;
}

function namesOf(options: AlertOptions): Names {
  const { clusterLabel: cluster, selectors } = options;
  const { gpu, device } = keysOf(options);
  const where = `${cluster}=~"$cluster", node=~"$node", UUID=~"$gpu"`;
  // The matchers of the node's own page, so that the series of other exporters are not read.
  const series = [`${cluster}=~"$cluster"`, `instance=~"$exporter"`, selectors.series].filter((each) => each !== "");
  const here: AlertOptions = { ...options, selectors: { ...selectors, series: series.join(", ") } };
  const chosen = (by: readonly string[], column: string): string => read(here, column, { by, of: where });
  return {
    cluster,
    where,
    above: (alert, parameter) => numberOf(options, alert, parameter),
    metric: (column) => chosen(gpu, column),
    device: (column) => chosen(device, column),
  };
}

const who = ({ cluster, where }: Names): readonly PanelDraft[] => [
  {
    title: "GPUs of the node",
    description:
      "Each GPU with its place on the node and its model. A click opens its cost by hour and payer in gpu-ledger.",
    view: {
      kind: "table",
      columns: [
        {
          field: "node",
          title: "node",
          link: toPage("The cost of the node", `/node?cluster=${cell(cluster)}&node=${cell("node")}`),
        },
        {
          field: "gpu",
          title: "GPU",
          link: toPage("The cost of the GPU", `/gpu?cluster=${cell(cluster)}&node=${cell("node")}&gpu=${cell("gpu")}`),
        },
        { field: "UUID", title: "UUID" },
        { field: "modelName", title: "model" },
        { field: cluster, title: "cluster" },
      ],
      sortedBy: "node",
    },
    unit: "none",
    queries: [
      rows(
        `max by (${cluster}, node, gpu, UUID) (gpu:exporter_gpu:info{${where}}) * on (${cluster}, node, UUID) group_left (modelName) gpu:model:info{${where}}`,
      ),
    ],
    empty: NO_GPU,
    width: 24,
    height: 7,
  },
  {
    title: "Holders",
    description:
      "A bar for each pod that the exporter reported on a GPU, for the time that the pod held it. Between bars the GPU had no holder; parallel bars share it.",
    view: { kind: "timeline", meanings: { "1": { text: "held", color: "blue" } } },
    unit: "none",
    queries: [
      range(
        `max by (${cluster}, node, UUID, GPU_I_ID, namespace, pod) (gpu:device_holder:info{${where}})`,
        `${DEVICE} {{namespace}}/{{pod}}`,
      ),
    ],
    empty: "No pod held a GPU of this node in this time.",
    width: 24,
    height: 9,
  },
];

const work = ({ where, above, device }: Names): readonly PanelDraft[] => [
  {
    title: "Activity",
    description:
      "The activity of each GPU or instance: the largest measure that its exporter has. Near 0 with a holder: the holder does not use it.",
    view: { kind: "series", max: 1 },
    unit: "percentunit",
    thresholds: UTILIZATION,
    queries: [range(`gpu:device_activity:ratio{${where}}`, DEVICE)],
    empty: NO_GPU,
  },
  {
    title: "Tensor cores",
    description:
      "Cycles in which the tensor cores were busy. Efficient training is above a quarter. Busy GPUs far below it wait for data " +
      "or memory, or compute in a format without tensor cores.",
    view: { kind: "series", max: 1 },
    unit: "percentunit",
    thresholds: TENSOR,
    queries: [range(device("tensor_active_ratio"), DEVICE)],
    empty: "The exporter has no tensor activity: DCGM_FI_PROF_PIPE_TENSOR_ACTIVE is not in its counters.",
  },
  {
    title: "Memory in use",
    description:
      "Used memory divided by the total memory. Full and not active: a model is loaded and gets no requests.",
    view: { kind: "series", max: 1 },
    unit: "percentunit",
    thresholds: goodBelow(above("HighGPUMemoryUsage", "threshold")),
    queries: [range(`gpu:memory_used:ratio{${where}}`, DEVICE)],
    empty: NO_GPU,
  },
  {
    title: "Power",
    description:
      "Power draw of each GPU. An idle GPU draws about a tenth of its limit. Check a GPU with high power and low activity.",
    view: { kind: "series" },
    unit: "watt",
    queries: [range(device("power_watts"), DEVICE)],
    empty: "The exporter has no power draw.",
  },
];

const heat = ({ where, above, metric }: Names): readonly PanelDraft[] => [
  {
    title: "Temperature and its limits",
    description:
      "Each GPU, with the temperature at which its hardware slows down: the GPU's own value, or else the value of its model's data sheet.",
    view: { kind: "series" },
    unit: "celsius",
    thresholds: goodBelow(above("HighGPUTemperature", "threshold")),
    queries: [
      range(`gpu:temperature:celsius{${where}}`, GPU),
      range(`gpu:slowdown_temperature:celsius{${where}}`, `${GPU} slows down`),
    ],
    empty: NO_GPU,
  },
  {
    title: "SM clock",
    description: "Clock of the multiprocessors. A step down under load is throttling; the next panel has the reason.",
    view: { kind: "series" },
    unit: "hertz",
    queries: [range(metric("sm_clock_hertz"), GPU)],
    empty: "The exporter has no clocks.",
  },
  {
    title: "Reasons of throttling",
    description:
      "Heat and the power brake, while they reduce clocks. hw_thermal is the hardware's own protection: repair the cooling soon. sw_thermal is " +
      "the driver, which keeps the GPU below that temperature. power_brake is the machine's power supply.",
    view: { kind: "timeline", meanings: IS_SO },
    unit: "none",
    queries: [range(`gpu:throttle_reason:info{${where}}`, `${GPU} {{reason}}`)],
    empty: HEALTHY,
  },
  {
    title: "XIDs",
    description: "Errors of the driver, by code and time. The runbook of the alert explains each code.",
    view: { kind: "timeline", meanings: { "1": { text: "XID", color: "red" } } },
    unit: "none",
    queries: [
      range(`max by (node, UUID, code) (present_over_time(gpu:xid_new:info{${where}}[5m]))`, `${GPU} XID {{code}}`),
    ],
    empty: HEALTHY,
  },
];

const links = ({ where, above }: Names): readonly PanelDraft[] => [
  {
    title: "NVLink errors",
    description:
      "Corrupted packets per second, of all links of a GPU. A lasting rate means a bad link or bridge: jobs over several GPUs slow down.",
    view: { kind: "series" },
    unit: "ops",
    thresholds: goodBelow(above("GPUNVLinkErrors", "crcPerSecond")),
    queries: [range(`gpu:nvlink_crc_errors:rate5m{${where}}`, GPU)],
    empty: HEALTHY,
    width: 8,
    height: 7,
  },
  {
    title: "PCIe replays",
    description:
      "Repeated transfers per second. A few are usual. A high lasting rate means a bad slot, riser or cable.",
    view: { kind: "series" },
    unit: "ops",
    thresholds: goodBelow(above("GPUPCIeReplayHigh", "perMinute") / 60),
    queries: [range(`gpu:pcie_replays:rate5m{${where}}`, GPU)],
    empty: HEALTHY,
    width: 8,
    height: 7,
  },
  {
    title: "Memory errors",
    description:
      "Double-bit errors since the driver was loaded, and GPUs that need a reset to repair memory. Drain the node and reset the GPU.",
    view: { kind: "series" },
    thresholds: goodBelow(1, "red"),
    queries: [
      range(`gpu:ecc_double_bit_errors:count{${where}}`, `${GPU} double-bit errors`),
      range(`gpu:memory_repair_pending:info{${where}}`, `${GPU} repair pending`),
      range(`gpu:row_remap_failure:info{${where}}`, `${GPU} remap failed`),
    ],
    empty: HEALTHY,
    width: 8,
    height: 7,
  },
];

/** Returns the dashboard of one node's GPUs over time. */
export function gpuDashboard(options: AlertOptions): Dashboard {
  const names = namesOf(options);
  const { cluster } = names;
  const known = "gpu:exporter_gpu:info";
  const ofNode = `${cluster}=~"$cluster", node=~"$node"`;
  return {
    uid: UIDS.gpu,
    title: "GPU and node",
    description: "The GPUs of a node over time: holders, activity, temperature and faults.",
    variables: [
      labelVariable("cluster", "cluster", cluster, known),
      labelVariable("node", "node", "node", `${known}{${cluster}=~"$cluster"}`, { isSingle: true }),
      labelVariable("gpu", "GPU", "UUID", `${known}{${ofNode}}`),
      labelVariable("exporter", "exporter", "instance", `${known}{${ofNode}}`, { isHidden: true }),
    ],
    annotations: [
      {
        name: "XID",
        expr: `present_over_time(gpu:xid_new:info{${names.where}}[$__interval])`,
        text: "XID {{code}} on {{node}} {{UUID}}, held by {{namespace}}/{{pod}}",
        color: "red",
      },
    ],
    sections: [
      section("Holders of the GPUs", who(names)),
      section("Activity", work(names)),
      section("Heat, clocks and errors", heat(names)),
      section("Links and memory", links(names)),
    ],
    from: "now-24h",
    refresh: "1m",
  };
}
