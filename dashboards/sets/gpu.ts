import type { AlertOptions } from "../../alerts/options.ts";
import { keysOf } from "../../alerts/series/keys.ts";
import { read } from "../../alerts/series/read.ts";
import { cell, toPage, UIDS } from "../links.ts";
import type { Dashboard, Meanings, Panel } from "../model.ts";
import { range, rows } from "../queries.ts";
import { labelVariable } from "../variables.ts";

const NO_GPU = "Choose a node with GPUs: this one's exporter tells of none in this time.";
const HEALTHY = "No GPU of this node told of any in this time.";
/** A legend with one GPU of the fleet, and an instance of it. */
const GPU = "{{node}} {{UUID}}";
const DEVICE = `${GPU} {{GPU_I_ID}}`;
const IS_SO: Meanings = { "1": { text: "yes", color: "orange" } };

/** The names that panels use: the chosen node and GPUs, and the expression for an exporter's metric of only that node. */
interface Names {
  readonly cluster: string;
  readonly where: string;
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
    metric: (column) => chosen(gpu, column),
    device: (column) => chosen(device, column),
  };
}

const who = ({ cluster, where }: Names): readonly Panel[] => [
  {
    title: "GPUs of the node",
    description:
      "Each GPU with its place on the node and its model. A click leads to what it cost, hour by hour, and to whom, in gpu-ledger.",
    needs: "A",
    view: {
      kind: "table",
      columns: [
        {
          field: "node",
          title: "node",
          link: toPage("What the node cost", `/node?cluster=${cell(cluster)}&node=${cell("node")}`),
        },
        {
          field: "gpu",
          title: "GPU",
          link: toPage("What the GPU cost", `/gpu?cluster=${cell(cluster)}&node=${cell("node")}&gpu=${cell("gpu")}`),
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
    title: "Who held it",
    description:
      "A bar for each pod that the exporter named on a GPU, as long as it had it. Between bars nobody did; several bars at once share it.",
    needs: "A",
    view: { kind: "timeline", meanings: { "1": { text: "held", color: "blue" } } },
    unit: "none",
    queries: [
      range(
        `max by (${cluster}, node, UUID, GPU_I_ID, namespace, pod) (gpu:device_holder:info{${where}})`,
        `${DEVICE} {{namespace}}/{{pod}}`,
      ),
    ],
    empty: "Nobody held a GPU of this node in this time.",
    width: 24,
    height: 9,
  },
];

const work = ({ where, device }: Names): readonly Panel[] => [
  {
    title: "Activity",
    description:
      "How busy each GPU or instance was, of the measures that its exporter has the largest. Near 0 while somebody holds it: nobody uses it.",
    needs: "A",
    view: { kind: "series", max: 1 },
    unit: "percentunit",
    queries: [range(`gpu:device_activity:ratio{${where}}`, DEVICE)],
    empty: NO_GPU,
    width: 12,
    height: 8,
  },
  {
    title: "Tensor cores",
    description:
      "Cycles in which the tensor cores were busy. Training that uses them well is above a quarter; busy but far below, it waits for data " +
      "or memory, or computes in a format that they do not have.",
    needs: "A",
    view: { kind: "series", max: 1 },
    unit: "percentunit",
    queries: [range(device("tensor_active_ratio"), DEVICE)],
    empty: "The exporter gives no tensor activity: its counters leave DCGM_FI_PROF_PIPE_TENSOR_ACTIVE out.",
    width: 12,
    height: 8,
  },
  {
    title: "Memory in use",
    description:
      "Memory in use by the memory there is. Full and not active: somebody keeps a model loaded that nobody asks.",
    needs: "A",
    view: { kind: "series", max: 1 },
    unit: "percentunit",
    queries: [range(`gpu:memory_used:ratio{${where}}`, DEVICE)],
    empty: NO_GPU,
    width: 12,
    height: 8,
  },
  {
    title: "Power",
    description:
      "Power draw of each GPU. An idle one draws a tenth or so of its limit; what draws much and does little is worth a look.",
    needs: "A",
    view: { kind: "series" },
    unit: "watt",
    queries: [range(device("power_watts"), DEVICE)],
    empty: "The exporter gives no power draw.",
    width: 12,
    height: 8,
  },
];

const heat = ({ where, metric }: Names): readonly Panel[] => [
  {
    title: "Temperature and its limits",
    description:
      "Each GPU, with the temperature at which its hardware slows down: what the GPU says of itself, else what its model's data sheet says.",
    needs: "A",
    view: { kind: "series" },
    unit: "celsius",
    queries: [
      range(`gpu:temperature:celsius{${where}}`, GPU),
      range(`gpu:slowdown_temperature:celsius{${where}}`, `${GPU} slows down`),
    ],
    empty: NO_GPU,
    width: 12,
    height: 8,
  },
  {
    title: "SM clock",
    description: "Clock of the multiprocessors. A step down under load is throttling; beside it stands why.",
    needs: "A",
    view: { kind: "series" },
    unit: "hertz",
    queries: [range(metric("sm_clock_hertz"), GPU)],
    empty: "The exporter gives no clocks.",
    width: 12,
    height: 8,
  },
  {
    title: "Why clocks are held down",
    description:
      "Heat and the power brake, while they hold clocks down. hw_thermal is the hardware's own protection: cooling, and soon. sw_thermal is " +
      "the driver that keeps below it. power_brake is the machine's power supply.",
    needs: "A",
    view: { kind: "timeline", meanings: IS_SO },
    unit: "none",
    queries: [range(`gpu:throttle_reason:info{${where}}`, `${GPU} {{reason}}`)],
    empty: HEALTHY,
    width: 12,
    height: 8,
  },
  {
    title: "XIDs",
    description:
      "Errors that the driver told of, by code, when they appeared. The runbook of the alert says what each means.",
    needs: "A",
    view: { kind: "timeline", meanings: { "1": { text: "XID", color: "red" } } },
    unit: "none",
    queries: [
      range(`max by (node, UUID, code) (present_over_time(gpu:xid_new:info{${where}}[5m]))`, `${GPU} XID {{code}}`),
    ],
    empty: HEALTHY,
    width: 12,
    height: 8,
  },
];

const links = ({ where }: Names): readonly Panel[] => [
  {
    title: "NVLink errors",
    description:
      "Corrupted packets by second, of all links of a GPU. Any that stay are a bad link or bridge: jobs over several GPUs slow down.",
    needs: "A",
    view: { kind: "series" },
    unit: "ops",
    queries: [range(`gpu:nvlink_crc_errors:rate5m{${where}}`, GPU)],
    empty: HEALTHY,
    width: 8,
    height: 7,
  },
  {
    title: "PCIe replays",
    description:
      "Transfers that had to be repeated, by second. Some are usual; many that stay are a bad slot, riser or cable.",
    needs: "A",
    view: { kind: "series" },
    unit: "ops",
    queries: [range(`gpu:pcie_replays:rate5m{${where}}`, GPU)],
    empty: HEALTHY,
    width: 8,
    height: 7,
  },
  {
    title: "Memory errors",
    description:
      "Double-bit errors since the driver was loaded, and GPUs that wait for a reset to repair memory. Drain the node and reset the GPU.",
    needs: "A",
    view: { kind: "series" },
    unit: "short",
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
    description:
      "Everything about a node's GPUs in time: who held them, what they did, how warm they were, and what failed.",
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
      { title: "Whose they are", panels: who(names) },
      { title: "What they do", panels: work(names) },
      { title: "Heat, clocks and errors", panels: heat(names) },
      { title: "Links and memory", panels: links(names) },
    ],
    from: "now-24h",
    refresh: "1m",
  };
}
