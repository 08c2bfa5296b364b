import { CLUSTER_USE, MISSING } from "../../alerts/recording/fleet.ts";
import { keysOf, listed } from "../../alerts/series/keys.ts";
import { state } from "../../alerts/series/state.ts";
import { cell, toDashboard, UIDS } from "../links.ts";
import type { Column, Dashboard, Panel, Thresholds } from "../model.ts";
import type { DashboardOptions } from "../options.ts";
import { buckets, range, rows } from "../queries.ts";
import { labelVariable } from "../variables.ts";

const HEALTHY = "No GPU of these clusters told of any in this time.";
const ANY: Thresholds = [{ color: "text" }, { color: "red", from: 1 }];
const count = { unit: "short", decimals: 0 } as const;

/** Returns the columns of faults on each GPU over the dashboard's time. */
const faults = (where: string): readonly (Column & { readonly expr: string })[] => {
  const often = (series: string): string => `count_over_time(${series}{${where}}[$__range])`;
  const seconds = (series: string): string => `sum by (BY) (count_over_time(${series}{${where}}[$__range:1m])) * 60`;
  const total = (series: string): string => `max_over_time(${series}{${where}}[$__range]) > 0`;
  const column = (title: string, expr: string) => ({ field: "", title, ...count, thresholds: ANY, expr });
  return [
    column("XIDs", `sum by (BY) (${often("gpu:xid_new:info")})`),
    column("double-bit errors", `max by (BY) (${total("gpu:ecc_double_bit_errors:count")})`),
    column("rows remapped in a day", `max by (BY) (${total("gpu:uncorrectable_remapped_rows:increase1d")})`),
    column("remap failed", `max by (BY) (${total("gpu:row_remap_failure:info")})`),
    column("repair pending", `max by (BY) (${total("gpu:memory_repair_pending:info")})`),
    column("NVLink errors/s", `max by (BY) (${total("gpu:nvlink_crc_errors:rate5m")})`),
    { ...column("clocks held down", seconds("gpu:throttle_reason:info")), unit: "s" },
    { ...column("telemetry frozen", seconds("gpu:telemetry_frozen:info")), unit: "s" },
  ];
};

function matrix(options: DashboardOptions, where: string): Panel {
  const { cluster, gpu } = keysOf(options);
  const found = faults(where).map((fault, index) => ({
    ...fault,
    field: `Value #${String.fromCodePoint(65 + index)}`,
  }));
  return {
    title: "GPUs and their faults",
    description:
      "Every GPU that had a fault in this time: how many of each or how fast at most, and for how long heat or power held its clocks down, " +
      "or its values stood still. One GPU in many columns is a card to be replaced; many GPUs of one node in one column are its node.",
    needs: "A",
    view: {
      kind: "table",
      columns: [
        { field: cluster, title: "cluster" },
        {
          field: "node",
          title: "node",
          link: toDashboard("gpu", "The GPU in time", {
            cluster: cell(cluster),
            node: cell("node"),
            gpu: cell("UUID"),
          }),
        },
        { field: "UUID", title: "UUID" },
        ...found.map(({ expr: _expr, ...column }) => column),
      ],
      sortedBy: "XIDs",
    },
    unit: "short",
    queries: found.map(({ expr }) => rows(expr.replaceAll("BY", listed(gpu)))),
    empty: HEALTHY,
    width: 24,
    height: 10,
  };
}

const heat = (where: string, cluster: string): readonly Panel[] => [
  {
    title: "Degrees left until nodes slow down",
    description:
      "Of each node the GPU that is nearest to the temperature at which it slows down: how many nodes had how much left. A cloud that sinks as a whole is the room; " +
      "a few below it are their fans, or their place in the rack.",
    needs: "A",
    view: { kind: "heatmap", of: "celsius" },
    ...count,
    queries: [buckets(`sum by (le) (cluster:nodes_by_temperature_left:count{${where}})`)],
    empty: "No GPU tells its temperature.",
    width: 12,
    height: 9,
  },
  {
    title: "Warmest nodes",
    description:
      "The twenty nodes that had the fewest degrees left in this time. Below five, work is lost soon: look at their cooling.",
    needs: "A",
    view: {
      kind: "table",
      columns: [
        { field: cluster, title: "cluster" },
        {
          field: "node",
          title: "node",
          link: toDashboard("gpu", "The node and its GPUs", { cluster: cell(cluster), node: cell("node") }),
        },
        {
          field: "Value",
          title: "degrees left",
          unit: "celsius",
          decimals: 0,
          thresholds: [{ color: "red" }, { color: "orange", from: 5 }, { color: "text", from: 10 }],
        },
      ],
    },
    unit: "celsius",
    queries: [rows(`bottomk(20, min_over_time(node:temperature_left:min5m{${where}}[$__range]))`)],
    empty: "No GPU tells its temperature.",
    width: 12,
    height: 9,
  },
];

const lost = (where: string, cluster: string): readonly Panel[] => {
  const missing = `${MISSING}{${where}}`;
  return [
    {
      title: "Nodes that lost GPUs",
      description:
        "Nodes that told of fewer GPUs than they had within a day, by the most that were missing in this time. One that is here again and again has a card that falls off the bus.",
      needs: "A",
      view: {
        kind: "table",
        columns: [
          { field: cluster, title: "cluster" },
          {
            field: "node",
            title: "node",
            link: toDashboard("gpu", "The node and its GPUs", { cluster: cell(cluster), node: cell("node") }),
          },
          { field: "Value", title: "missing at most", ...count, thresholds: ANY },
        ],
        sortedBy: "missing at most",
      },
      unit: "short",
      queries: [rows(`max_over_time(${missing}[$__range])`)],
      empty: "Every node told of as many GPUs as it had.",
      width: 12,
      height: 8,
    },
    {
      title: "GPUs missing",
      description:
        "How many GPUs nodes lacked of those that they had within a day. A step up that stays is hardware, one of minutes an exporter.",
      needs: "A",
      view: { kind: "series" },
      ...count,
      queries: [
        range(
          `sum by (${cluster}) (${missing}) or sum by (${cluster}) (${CLUSTER_USE}{${where}}) * 0`,
          `{{${cluster}}} missing`,
        ),
      ],
      empty: "No exporter tells of a GPU.",
      width: 12,
      height: 8,
    },
  ];
};

const versions = (options: DashboardOptions): readonly Panel[] => {
  const { clusterLabel: cluster } = options;
  const where = `${cluster}=~"$cluster"`;
  const [driver, cuda] = ["driver", "runtime"].map((of) => `label_nvidia_com_cuda_${of}_version_full`);
  return [
    {
      title: "Drivers and CUDA",
      description:
        "Nodes by the driver and the newest CUDA that it runs. Several rows of one cluster mix: programs that were built for the newest fail on the others.",
      needs: "B",
      view: {
        kind: "table",
        columns: [
          { field: cluster, title: "cluster" },
          { field: driver!, title: "driver" },
          { field: cuda!, title: "CUDA" },
          { field: "Value", title: "nodes", ...count },
        ],
        sortedBy: "nodes",
      },
      unit: "short",
      queries: [
        rows(
          `count by (${cluster}, ${driver}, ${cuda}) (${state(options, "kube_node_labels", where, `${driver}!=""`)})`,
        ),
      ],
      empty: "No node says which driver it has.",
      width: 12,
      height: 7,
    },
    {
      title: "Device plugins",
      description:
        "Device plugins by their image. Several rows are a roll-out that stopped half way, or two plugins that fight for the same GPUs.",
      needs: "A",
      view: {
        kind: "table",
        columns: [
          { field: cluster, title: "cluster" },
          { field: "image", title: "image" },
          { field: "Value", title: "pods", ...count },
        ],
        sortedBy: "pods",
      },
      unit: "short",
      queries: [
        rows(
          `count by (${cluster}, image) (${state(options, "kube_pod_container_info", where, 'container=~".*device-plugin.*"')})`,
        ),
      ],
      empty: "No container is called a device plugin.",
      width: 12,
      height: 7,
    },
  ];
};

/** Returns the dashboard of faults, of expected faults, and of contradictions. */
export function healthDashboard(options: DashboardOptions): Dashboard {
  const { clusterLabel: cluster } = options;
  const where = `${cluster}=~"$cluster"`;
  const known = "gpu:exporter_gpu:info";
  return {
    uid: UIDS.health,
    title: "GPU health",
    description:
      "Which GPUs and nodes fail, which are about to, how warm they are, and whose versions do not fit together.",
    variables: [labelVariable("cluster", "cluster", cluster, known)],
    annotations: [],
    sections: [
      {
        title: "Faults",
        panels: [
          matrix(options, where),
          {
            title: "GPUs with XIDs",
            description:
              "GPUs whose driver told of an error, by its code. One code on many nodes at once is a program, a driver or a switch; on one, its card.",
            needs: "A",
            view: { kind: "series", isBars: true, isStacked: true },
            ...count,
            queries: [
              range(
                `count by (code) (group by (${listed(keysOf(options).gpu)}, code) (present_over_time(gpu:xid_new:info{${where}}[$__interval])))`,
                "XID {{code}}",
              ),
            ],
            empty: HEALTHY,
            width: 12,
            height: 8,
          },
          {
            title: "GPUs held down by heat or power",
            description:
              "GPUs whose clocks are held down, by the reason. They are held and paid for, and slower than they could be.",
            needs: "A",
            view: { kind: "series" },
            ...count,
            queries: [range(`count by (reason) (gpu:throttle_reason:info{${where}})`, "{{reason}}")],
            empty: HEALTHY,
            width: 12,
            height: 8,
          },
        ],
      },
      { title: "Heat", panels: heat(where, cluster) },
      { title: "Missing GPUs", panels: lost(where, cluster) },
      { title: "Versions", panels: versions(options) },
    ],
    from: "now-24h",
    refresh: "1m",
  };
}
