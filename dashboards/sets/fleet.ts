import { CLUSTER_USE, FLEET_USE, type FleetUse } from "../../alerts/recording/fleet.ts";
import { chosen } from "../ledger.ts";
import { cell, toDashboard, toPage, UIDS } from "../links.ts";
import type { Dashboard, Variable } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import { UTILIZATION } from "../thresholds.ts";
import type { DashboardOptions } from "../options.ts";
import { instant, range, rows, sqlRows } from "../queries.ts";
import { MILLIS, NEWEST, USAGE, WITH_NEWEST } from "../usage.ts";
import { labelVariable } from "../variables.ts";
import { wrongPanels } from "./wrong.ts";

/** The names that panels use, with the label of clusters. */
interface Names {
  readonly cluster: string;
  /** A matcher of the chosen clusters. */
  readonly where: string;
  /** Returns the GPUs by use, of the chosen models. */
  gpus(use: FleetUse, by?: string): string;
  wasted(by?: string): string;
  wastedOfNodes(by: string): string;
}

function namesOf({ clusterLabel: cluster }: DashboardOptions): Names {
  const where = `${cluster}=~"$cluster"`;
  const sumOf = (series: string, use: FleetUse, by: string): string =>
    `sum ${by}(${series}{use="${use}", ${where}, modelName=~"$model"})`;
  const wastedOf = (series: string, by: string): string =>
    `(${sumOf(series, "total", by)} - ${sumOf(series, "effective", by)})`;
  return {
    cluster,
    where,
    gpus: (use, by = "") => sumOf(CLUSTER_USE, use, by),
    wasted: (by = "") => wastedOf(CLUSTER_USE, by),
    wastedOfNodes: (by) => wastedOf(FLEET_USE, by),
  };
}

const GPUS = { unit: "short", decimals: 1 } as const;
const NO_GPUS = "No exporter of these clusters and models reports a GPU.";

/** The steps from all GPUs to their use, with their titles. */
const STEPS = [
  ["total", "there are"],
  ["held", "held"],
  ["effective", "effective"],
  ["active", "active"],
] as const satisfies readonly (readonly [FleetUse, string])[];

const now = ({ where, gpus, wasted }: Names): readonly PanelDraft[] => [
  {
    title: "From capacity to activity",
    description:
      "All GPUs; the GPUs that a pod holds; the held GPUs that were not below 1 % for an hour; and the activity in whole GPUs. A large " +
      "step shows the cause of waste: for free GPUs the scheduler, for held but unused GPUs their teams, for held and hardly active GPUs " +
      "the workloads. The funnel on gpu-ledger's pages also separates waiting, starting and unavailable time.",
    view: { kind: "bars" },
    ...GPUS,
    queries: STEPS.map(([use, legend]) => instant(gpus(use), legend)),
    empty: NO_GPUS,
    width: 10,
    height: 7,
    links: [toPage("The cost of each step", "/")],
  },
  {
    title: "Utilization",
    description: "Active GPUs divided by all GPUs. Below a third, most of the fleet's cost is waste.",
    unit: "percentunit",
    decimals: 1,
    thresholds: UTILIZATION,
    queries: [instant(`${gpus("active")} / ${gpus("total")}`)],
    empty: NO_GPUS,
    height: 7,
  },
  {
    title: "Held",
    description:
      "Held GPUs divided by all GPUs: the scheduling efficiency, if no GPU is unavailable. If it is low while pods wait, find the reason that keeps the pods " +
      "off these GPUs.",
    unit: "percentunit",
    decimals: 1,
    thresholds: [{ color: "red" }, { color: "yellow", from: 0.6 }, { color: "green", from: 0.85 }],
    queries: [instant(`${gpus("held")} / ${gpus("total")}`)],
    empty: NO_GPUS,
    height: 7,
  },
  {
    title: "Wasted GPUs",
    description:
      "All GPUs minus the effective GPUs: free, or held and unused for an hour. This number of GPUs could be used by others now.",
    ...GPUS,
    thresholds: [{ color: "text" }],
    queries: [instant(wasted())],
    empty: NO_GPUS,
    width: 3,
    height: 7,
  },
  {
    title: "Waiting",
    description:
      "GPUs that pending pods request. If the panel on the left shows wasted GPUs, these pods could use them.",
    needs: "C",
    ...GPUS,
    thresholds: [{ color: "green" }, { color: "yellow", from: 1 }],
    queries: [instant(`sum(gpu_ledger_pending_devices{${where}})`)],
    empty: "No pod waits for GPUs.",
    width: 3,
    height: 7,
    links: [toPage("The queue", "/queue")],
  },
];

const overTime = ({ gpus, wasted }: Names): readonly PanelDraft[] => [
  {
    title: "GPUs by use",
    description:
      "The same numbers over time. If held falls and the capacity does not, work has ended. If effective is below held, some " +
      "holders do not use their GPUs.",
    view: { kind: "series" },
    ...GPUS,
    queries: STEPS.map(([use, legend]) => range(gpus(use), legend)),
    empty: NO_GPUS,
    height: 9,
  },
  {
    title: "Wasted GPUs by model",
    description:
      "Free or unused GPUs by model. If a model is wasted week after week, the fleet has too many GPUs of it.",
    view: { kind: "series", isStacked: true },
    ...GPUS,
    queries: [range(wasted("by (modelName) "), "{{modelName}}")],
    empty: NO_GPUS,
    height: 9,
  },
];

const useColumns = [
  { field: "Value #A", title: "GPUs", ...GPUS },
  { field: "Value #B", title: "held", ...GPUS },
  { field: "Value #C", title: "effective", ...GPUS },
  { field: "Value #D", title: "active", ...GPUS },
  {
    field: "Value #E",
    title: "utilization",
    unit: "percentunit",
    decimals: 1,
    thresholds: UTILIZATION,
  },
] as const;
const useBy = ({ gpus }: Names, by: string) => [
  ...STEPS.map(([use]) => rows(gpus(use, by))),
  rows(`${gpus("active", by)} / ${gpus("total", by)}`),
];

const whereRow = (names: Names): readonly PanelDraft[] => [
  {
    title: "By cluster and model",
    description:
      "The same figures for each model of each cluster. Look first at the model with the lowest utilization.",
    view: {
      kind: "table",
      columns: [{ field: names.cluster, title: "cluster" }, { field: "modelName", title: "model" }, ...useColumns],
      sortedBy: "GPUs",
    },
    ...GPUS,
    queries: useBy(names, `by (${names.cluster}, modelName) `),
    empty: NO_GPUS,
  },
  {
    title: "Nodes that waste most",
    description: "The 20 nodes with the most free or unused GPUs. A click opens the node, its GPUs and their holders.",
    view: {
      kind: "table",
      columns: [
        { field: names.cluster, title: "cluster" },
        {
          field: "node",
          title: "node",
          link: toDashboard("gpu", "The node and its GPUs", { cluster: cell(names.cluster), node: cell("node") }),
        },
        { field: "modelName", title: "model" },
        { field: "Value", title: "wasted", ...GPUS },
      ],
      sortedBy: "wasted",
    },
    ...GPUS,
    queries: [rows(`topk(20, ${names.wastedOfNodes(`by (${names.cluster}, node, modelName) `)} > 0)`)],
    empty: "No node has a free or unused GPU.",
  },
  {
    title: "By pool, capacity, rack or switch",
    description:
      "GPUs of the newest metered hour, by the property of their nodes that is selected above: the pool, the capacity type, the zone, or a label of a rack or switch. " +
      "If few are held while pods wait, something keeps pods off these nodes. If few are busy, ask their holders.",
    view: {
      kind: "table",
      columns: [
        { field: "cluster", title: "cluster" },
        { field: "place_name", title: "place" },
        { field: "gpus", title: "GPUs", ...GPUS },
        { field: "held", title: "held", ...GPUS },
        { field: "busy", title: "busy", ...GPUS },
        {
          field: "utilization",
          title: "busy of all",
          unit: "percentunit",
          decimals: 1,
          thresholds: UTILIZATION,
        },
        { field: "unavailable", title: "unavailable", ...GPUS },
      ],
      sortedBy: "GPUs",
    },
    ...GPUS,
    queries: [
      sqlRows(`${WITH_NEWEST}
SELECT cluster, if(JSONHas(place, ${chosen("place")}), JSONExtractString(place, ${chosen("place")}), JSONExtractString(place, 'labels', ${chosen("place")})) AS place_name,
  sum(${MILLIS}) / 3600000 AS gpus, sumIf(${MILLIS}, notEmpty(claims)) / 3600000 AS held, sum(busy_ms) / 3600000 AS busy, busy / gpus AS utilization,
  sumIf(${MILLIS}, because != '') / 3600000 AS unavailable
FROM ${USAGE} WHERE ${NEWEST} GROUP BY cluster, place_name ORDER BY gpus DESC, cluster, place_name`),
    ],
    empty: "No GPU of these clusters was metered in this time.",
    width: 24,
    height: 8,
  },
];

/** The properties of a node: the ledger's properties of every machine, and the kept labels. */
const PLACE: Variable = {
  name: "place",
  label: "by",
  query: {
    source: "clickhouse",
    sql: `${WITH_NEWEST}
SELECT DISTINCT arrayJoin(arrayConcat(['pool', 'capacityType', 'instanceType', 'zone', 'region'], JSONExtractKeys(place, 'labels')))
FROM ${USAGE} WHERE ${NEWEST}`,
  },
  isMulti: false,
  first: "pool",
};

/** Returns the dashboard of the fleet: its size, its use, and its current faults. */
export function fleetDashboard(options: DashboardOptions): Dashboard {
  const names = namesOf(options);
  return {
    uid: UIDS.fleet,
    title: "GPU fleet",
    description: "The number of GPUs, their use and waste by model, node and pool, and the current problems.",
    variables: [
      labelVariable("cluster", "cluster", names.cluster, CLUSTER_USE),
      labelVariable("model", "model", "modelName", `${CLUSTER_USE}{${names.where}}`),
      PLACE,
    ],
    annotations: [],
    sections: [
      section("Now", now(names)),
      section("Over time", overTime(names)),
      section("Where", whereRow(names)),
      section("Current problems", wrongPanels(names, options.runbooks)),
    ],
    from: "now-7d",
    refresh: "1m",
  };
}
