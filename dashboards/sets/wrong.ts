import { cell, toDashboard } from "../links.ts";
import type { Panel } from "../model.ts";
import { instant, rows } from "../queries.ts";

/** The number of degrees below its slowdown at which a GPU is near it. */
const NEAR = 5;

/** Returns panels of the current faults in the chosen clusters; `where` is their matcher. */
export const wrongPanels = (
  { cluster, where }: { readonly cluster: string; readonly where: string },
  runbooks: string,
): readonly Panel[] => [
  {
    title: "Alerts that fire",
    description:
      "Every alert of gpu-ledger's rules that fires now, and on how many things. A click leads to its runbook.",
    needs: "A",
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
    unit: "short",
    queries: [
      rows(
        `count by (severity, alertname, gpu_topic) (ALERTS{alertstate="firing", gpu_topic!="", severity!="none", ${where}})`,
      ),
    ],
    empty: "No alert fires.",
    width: 12,
    height: 9,
  },
  {
    title: "Nodes that lack GPUs",
    description:
      "Nodes that tell of fewer GPUs than they had within a day: one fell off the bus, or its exporter lost it. What is scheduled " +
      "there may fail; drain the node and look at its kernel's log.",
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
        { field: "Value", title: "missing", unit: "short", decimals: 0, thresholds: [{ color: "red" }] },
      ],
      sortedBy: "missing",
    },
    unit: "short",
    queries: [rows(`node:gpu_devices:max1d{${where}} - node:gpu_devices:count{${where}} > 0`)],
    empty: "Every node tells of as many GPUs as it had.",
    width: 6,
    height: 9,
  },
  {
    title: "GPUs near their limits",
    description:
      "GPUs that are within five degrees of the temperature at which they slow down. They lose work soon: look at their cooling.",
    needs: "A",
    view: { kind: "stat" },
    unit: "short",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
    queries: [instant(`count(gpu:temperature_left:celsius{${where}} <= ${NEAR}) or on () vector(0)`)],
    empty: "No GPU tells its temperature.",
    width: 3,
    height: 9,
  },
  {
    title: "XIDs within 15 minutes",
    description:
      "GPUs whose driver told of an error lately. Which one it was, and what to do, the alerts on the left say.",
    needs: "A",
    view: { kind: "stat" },
    unit: "short",
    decimals: 0,
    thresholds: [{ color: "green" }, { color: "red", from: 1 }],
    queries: [
      instant(
        `count(group by (${cluster}, node, UUID) (present_over_time(gpu:xid_new:info{${where}}[15m]))) or on () vector(0)`,
      ),
    ],
    empty: "No driver tells of errors.",
    width: 3,
    height: 9,
  },
];
