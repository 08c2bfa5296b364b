import { cell, toDashboard } from "../links.ts";
import type { PanelDraft } from "../section.ts";
import { instant, rows } from "../queries.ts";

/** A GPU is near its slowdown temperature from this many °C below it. */
const NEAR = 5;

/** Returns panels of the current faults in the chosen clusters; `where` is their matcher. */
export const wrongPanels = (
  { cluster, where }: { readonly cluster: string; readonly where: string },
  runbooks: string,
): readonly PanelDraft[] => [
  {
    title: "Firing alerts",
    description:
      "Every firing alert of gpu-ledger's rules, with the number of its subjects. A click opens its runbook.",
    view: {
      kind: "table",
      columns: [
        { field: "severity", title: "severity" },
        {
          field: "alertname",
          title: "alert",
          link: {
            title: "Runbook",
            url: `${runbooks}/${cell("alertname")}.md`,
          },
        },
        { field: "gpu_topic", title: "about" },
        { field: "Value", title: "times", unit: "short", decimals: 0 },
      ],
      sortedBy: "times",
    },
    queries: [
      rows(
        `count by (severity, alertname, gpu_topic) (ALERTS{alertstate="firing", gpu_topic!="", severity!="none", ${where}})`,
      ),
    ],
    empty: "No alert fires.",
  },
  {
    title: "Nodes that lack GPUs",
    description:
      "Nodes that report fewer GPUs than within the last day: a GPU fell off the bus, or its exporter lost it. Pods that are scheduled " +
      "there may fail. Drain the node and check its kernel log.",
    view: {
      kind: "table",
      columns: [
        { field: cluster, title: "cluster" },
        {
          field: "node",
          title: "node",
          link: toDashboard("gpu", "The node and its GPUs", { cluster: cell(cluster), node: cell("node") }),
        },
        { field: "Value", title: "missing", unit: "short", decimals: 0, thresholds: [{ color: "red" }] },
      ],
      sortedBy: "missing",
    },
    queries: [rows(`node:gpu_devices:max1d{${where}} - node:gpu_devices:count{${where}} > 0`)],
    empty: "Every node reports all its GPUs.",
    width: 6,
  },
  {
    title: "GPUs near their limits",
    description: "GPUs within 5 degrees of the temperature at which they slow down. Check their cooling.",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
    queries: [instant(`count(gpu:temperature_left:celsius{${where}} <= ${NEAR}) or on () vector(0)`)],
    empty: "No GPU reports its temperature.",
    width: 3,
    height: 9,
  },
  {
    title: "XIDs within 15 minutes",
    description: "GPUs with a recent error of the driver. The alerts on the left have the error and the action.",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "red", from: 1 }],
    queries: [
      instant(
        `count(group by (${cluster}, node, UUID) (present_over_time(gpu:xid_new:info{${where}}[15m]))) or on () vector(0)`,
      ),
    ],
    empty: "No driver reports errors.",
    width: 3,
    height: 9,
  },
];
