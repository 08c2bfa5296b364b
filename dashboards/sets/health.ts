import { CLUSTER_USE, MISSING } from "../../alerts/recording/fleet.ts";
import { keysOf, listed } from "../../alerts/series/keys.ts";
import { state } from "../../alerts/series/state.ts";
import { cell, toDashboard, UIDS } from "../links.ts";
import type { Column, Dashboard, Thresholds } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import { goodBelow } from "../thresholds.ts";
import type { DashboardOptions } from "../options.ts";
import { buckets, range, rows } from "../queries.ts";
import { labelVariable } from "../variables.ts";

const HEALTHY = "No GPU of these clusters reported any in this time.";
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

function matrix(options: DashboardOptions, where: string): PanelDraft {
  const { cluster, gpu } = keysOf(options);
  const found = faults(where).map((fault, index) => ({
    ...fault,
    field: `Value #${String.fromCodePoint(65 + index)}`,
  }));
  return {
    title: "GPUs and their faults",
    description:
      "Every GPU with a fault in this time: the number or the highest rate of each fault, and the time for which heat or power reduced its clocks " +
      "or its values did not change. One GPU in many columns: replace the card. Many GPUs of one node in one column: check the node.",
    view: {
      kind: "table",
      columns: [
        { field: cluster, title: "cluster" },
        {
          field: "node",
          title: "node",
          link: toDashboard("gpu", "The GPU over time", {
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
    queries: found.map(({ expr }) => rows(expr.replaceAll("BY", listed(gpu)))),
    empty: HEALTHY,
    width: 24,
    height: 10,
  };
}

const heat = (where: string, cluster: string): readonly PanelDraft[] => [
  {
    title: "Degrees until nodes slow down",
    description:
      "The GPU of each node that is nearest to its slowdown temperature, as the number of nodes by remaining degrees. If all nodes sink, the cause is the room; " +
      "if a few are below the others, the cause is their fans or their place in the rack.",
    view: { kind: "heatmap", of: "celsius" },
    ...count,
    queries: [buckets(`sum by (le) (cluster:nodes_by_temperature_left:count{${where}})`)],
    empty: "No GPU reports its temperature.",
  },
  {
    title: "Warmest nodes",
    description:
      "The 20 nodes with the fewest remaining degrees in this time. Below 5, GPUs slow down soon: check the cooling.",
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
    empty: "No GPU reports its temperature.",
  },
];

const lost = (where: string, cluster: string): readonly PanelDraft[] => {
  const missing = `${MISSING}{${where}}`;
  return [
    {
      title: "Nodes that lost GPUs",
      description:
        "Nodes that reported fewer GPUs than within the day before, by the largest number missing. A node that is often in this list has a card that falls off the bus.",
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
      queries: [rows(`max_over_time(${missing}[$__range])`)],
      empty: "Every node reported all its GPUs.",
      height: 8,
    },
    {
      title: "GPUs missing",
      description:
        "The number of missing GPUs, of those that nodes had within a day. A lasting step up is hardware; a step of minutes is an exporter.",
      view: { kind: "series" },
      ...count,
      thresholds: goodBelow(1, "red"),
      queries: [
        range(
          `sum by (${cluster}) (${missing}) or sum by (${cluster}) (${CLUSTER_USE}{${where}}) * 0`,
          `{{${cluster}}} missing`,
        ),
      ],
      empty: "No exporter reports a GPU.",
    },
  ];
};

const versions = (options: DashboardOptions): readonly PanelDraft[] => {
  const { clusterLabel: cluster } = options;
  const where = `${cluster}=~"$cluster"`;
  const [driver, cuda] = ["driver", "runtime"].map((of) => `label_nvidia_com_cuda_${of}_version_full`);
  return [
    {
      title: "Drivers and CUDA",
      description:
        "Nodes by driver and its newest CUDA version. A cluster with several rows has mixed versions: programs built for the newest version fail on the others.",
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
      queries: [
        rows(
          `count by (${cluster}, ${driver}, ${cuda}) (${state(options, "kube_node_labels", where, `${driver}!=""`)})`,
        ),
      ],
      empty: "No node reports its driver.",
      height: 7,
    },
    {
      title: "Device plugins",
      description:
        "Device plugins by image. Several rows mean an incomplete rollout, or two plugins for the same GPUs.",
      view: {
        kind: "table",
        columns: [
          { field: cluster, title: "cluster" },
          { field: "image", title: "image" },
          { field: "Value", title: "pods", ...count },
        ],
        sortedBy: "pods",
      },
      queries: [
        rows(
          `count by (${cluster}, image) (${state(options, "kube_pod_container_info", where, 'container=~".*device-plugin.*"')})`,
        ),
      ],
      empty: "No container has the name of a device plugin.",
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
      "GPUs and nodes that fail or will fail soon, their temperatures, and mixed versions of drivers and plugins.",
    variables: [labelVariable("cluster", "cluster", cluster, known)],
    annotations: [],
    sections: [
      section("Faults", [
        matrix(options, where),
        {
          title: "GPUs with XIDs",
          description:
            "GPUs with an error of the driver, by code. The same code on many nodes at once points to a program, a driver or a switch; on one node, to its card.",
          view: { kind: "series", isBars: true, isStacked: true },
          ...count,
          thresholds: goodBelow(1, "red"),
          queries: [
            range(
              `count by (code) (group by (${listed(keysOf(options).gpu)}, code) (present_over_time(gpu:xid_new:info{${where}}[$__interval])))`,
              "XID {{code}}",
            ),
          ],
          empty: HEALTHY,
        },
        {
          title: "GPUs throttled by heat or power",
          description: "GPUs with reduced clocks, by reason. They have their full cost but less performance.",
          view: { kind: "series" },
          ...count,
          thresholds: goodBelow(1),
          queries: [range(`count by (reason) (gpu:throttle_reason:info{${where}})`, "{{reason}}")],
          empty: HEALTHY,
        },
      ]),
      section("Heat", heat(where, cluster)),
      section("Missing GPUs", lost(where, cluster)),
      section("Versions", versions(options)),
    ],
    from: "now-24h",
    refresh: "1m",
  };
}
