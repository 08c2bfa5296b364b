import {
  among,
  byHour,
  CHARGES,
  chargesVariable,
  chosen,
  CLUSTERS,
  FOR_NOTHING,
  IN_TIME,
  costByDearest,
  money,
  OF_GPUS,
  policyVariable,
  STEP,
  WORKLOAD_CHARGES,
} from "../ledger.ts";
import { cell, toDashboard, toPage, UIDS } from "../links.ts";
import type { Column, Dashboard } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import { UTILIZATION } from "../thresholds.ts";
import type { DashboardOptions } from "../options.ts";
import { instant, range, sqlRange, sqlRows } from "../queries.ts";
import { savings } from "./savings.ts";

const WHOSE = [`policy = ${chosen("policy")}`, among("cluster"), among("team"), among("namespace")].join(" AND ");
const NOTHING_CHARGED =
  "These teams have no charges in this time: the time may be too short, or gpu-ledger has not charged it yet.";
const MOST = 12;

/**
 * Returns SQL that sums GPU-hours and costs by `columns` over the dashboard's time, and the cost of the equally long time before. The rows
 * with the highest cost come first, at most `most`.
 */
function sums(columns: readonly string[], from: string, most?: number): string {
  const by = columns.join(", ");
  return `SELECT ${by}, sumIf(gpu_hours, is_held AND isNow) AS held,
  toFloat64(sumIf(gpu_hours, state = 'active' AND isNow)) / nullIf(toFloat64(held), 0) AS active,
  1 - toFloat64(sumIf(gpu_hours, state = 'unobserved' AND isNow)) / nullIf(toFloat64(held), 0) AS observed,
  sumIf(ifNull(effective_cost, 0), isNow) AS cost, sumIf(ifNull(effective_cost, 0), NOT isNow) AS before,
  cost - before AS change, sumIf(ifNull(effective_cost, 0), isNow AND ${FOR_NOTHING}) AS wasted
FROM (
  SELECT *, from_at >= $__fromTime AS isNow FROM ${from}
  WHERE from_at >= $__fromTime - toIntervalSecond(toUnixTimestamp($__toTime) - toUnixTimestamp($__fromTime)) AND from_at <= $__toTime AND ${WHOSE})
GROUP BY ${by} HAVING cost != 0 OR before != 0 OR held != 0 ORDER BY cost DESC, ${by}${most === undefined ? "" : ` LIMIT ${most}`}`;
}

const hours = { unit: "none", decimals: 1 } as const;
const part = { unit: "percentunit", decimals: 1 } as const;

function sumColumns(options: DashboardOptions): readonly Column[] {
  const unit = { unit: money(options), decimals: 2 } as const;
  return [
    { field: "cost", title: "cost", ...unit },
    { field: "before", title: "before", ...unit },
    { field: "change", title: "change", ...unit, thresholds: [{ color: "green" }, { color: "text", from: 0 }] },
    { field: "wasted", title: "waste", ...unit },
    { field: "held", title: "GPU-hours held", ...hours },
    {
      field: "active",
      title: "active",
      ...part,
      thresholds: UTILIZATION,
    },
    { field: "observed", title: "observed", ...part, thresholds: [{ color: "orange" }, { color: "text", from: 0.99 }] },
  ];
}

const now = ({ clusterLabel: cluster }: DashboardOptions): readonly PanelDraft[] => {
  const where = `${cluster}=~"$cluster", team=~"$team"`;
  return [
    {
      title: "Devices held now",
      description:
        "GPUs and instances that a team's pods hold now, by the exporters. Compare them with the cost below: held GPUs have a cost, used or not.",
      needs: "B",
      view: { kind: "bars" },
      decimals: 0,
      queries: [instant(`sort_desc(topk(${MOST}, sum by (team) (team:gpus_held:count{${where}})))`, "{{team}}")],
      empty: "No GPU has a known team.",
    },
    {
      title: "Idle for a day",
      description:
        "Held devices that were hardly active for a whole day. Ask the team whether it needs them. An alert fires if they are more than half.",
      needs: "B",
      view: { kind: "bars" },
      decimals: 0,
      thresholds: [{ color: "orange" }],
      queries: [instant(`sort_desc(topk(${MOST}, sum by (team) (team:gpus_idle_day:count{${where}})))`, "{{team}}")],
      empty: "No team holds a GPU that was idle for a day.",
    },
    {
      title: "Held over time",
      description:
        "Held devices over time, for the 12 teams with the most. A team that holds the same number at night and by day has services, or does not release devices.",
      needs: "B",
      view: { kind: "series" },
      queries: [
        range(
          `sum by (team) (team:gpus_held:count{${where}} and on (team) topk(${MOST}, sum by (team) (avg_over_time(team:gpus_held:count{${where}}[$__range] @ end()))))`,
          "{{team}}",
        ),
      ],
      empty: "No GPU had a known team.",
      width: 8,
      height: 9,
    },
  ];
};

const byTeam = (options: DashboardOptions): readonly PanelDraft[] => [
  {
    title: "Teams",
    description:
      "The cost of each team for hours that began in this time, compared with the period of equal length before: the held time, the active part of it, and " +
      "the waste. platform pays for GPUs without a holder; unowned has a holder without a known team. The figures are the ledger's own.",
    view: {
      kind: "table",
      columns: [
        { field: "team", title: "team", link: toPage("The team's bill", `/team?team=${cell("team")}`) },
        ...sumColumns(options),
      ],
      sortedBy: "cost",
    },
    unit: "none",
    queries: [sqlRows(sums(["team"], CHARGES))],
    empty: NOTHING_CHARGED,
    width: 24,
    height: 10,
  },
  {
    title: "Cost per hour by team",
    description: `The cost of an hour by team (highest first). All teams after the first ${MOST} are one sum. A step is a workload that began or ended.`,
    view: { kind: "series", isStacked: true, isBars: true },
    unit: money(options),
    decimals: 2,
    queries: [sqlRange(costByDearest("team", `${IN_TIME} AND ${WHOSE}`, MOST))],
    empty: NOTHING_CHARGED,
    height: 9,
  },
  {
    title: "GPUs by state",
    description:
      "GPUs of these teams in each hour: active, or held and idle, waiting for a gang, starting, unobserved. All states except active are waste.",
    view: { kind: "series", isStacked: true, isBars: true },
    decimals: 1,
    queries: [
      sqlRange(`SELECT ${STEP} AS time, state, ${byHour("toFloat64(sum(gpu_hours))")} AS Value
FROM ${CHARGES} WHERE ${IN_TIME} AND ${WHOSE} AND ${OF_GPUS} GROUP BY time, state ORDER BY time, state`),
    ],
    empty: NOTHING_CHARGED,
    height: 9,
  },
];

const within = (options: DashboardOptions): readonly PanelDraft[] => [
  {
    title: "Namespaces",
    description: "The cost by namespace. If a team's cost rises, this panel shows the namespace.",
    view: {
      kind: "table",
      columns: [
        { field: "cluster", title: "cluster" },
        { field: "namespace", title: "namespace" },
        ...sumColumns(options),
      ],
      sortedBy: "cost",
    },
    unit: "none",
    queries: [sqlRows(sums(["cluster", "namespace"], CHARGES))],
    empty: NOTHING_CHARGED,
    width: 24,
  },
  {
    title: "Training, inference, notebooks",
    description:
      "The cost by type of workload. Make hardly active notebooks smaller or shared first. The low activity of a service can be its reserve.",
    view: {
      kind: "table",
      columns: [{ field: "workload_type", title: "type" }, ...sumColumns(options)],
      sortedBy: "cost",
    },
    unit: "none",
    queries: [sqlRows(sums(["workload_type"], CHARGES))],
    empty: NOTHING_CHARGED,
    width: 24,
    height: 7,
  },
  {
    title: "Workloads",
    description: "The 1,000 workloads with the highest cost. A click opens the use of their GPUs.",
    view: {
      kind: "table",
      columns: [
        { field: "cluster", title: "cluster" },
        { field: "namespace", title: "namespace" },
        {
          field: "workload",
          title: "workload",
          link: toDashboard("workload", "The use of its GPUs", {
            cluster: cell("cluster"),
            namespace: cell("namespace"),
            workload: cell("workload"),
          }),
        },
        ...sumColumns(options),
      ],
      sortedBy: "cost",
    },
    unit: "none",
    queries: [sqlRows(sums(["cluster", "namespace", "workload"], WORKLOAD_CHARGES, 1000))],
    empty: NOTHING_CHARGED,
    width: 24,
    height: 11,
  },
];

const quotas = (): readonly PanelDraft[] => [
  {
    title: "Quotas",
    description:
      "The GPU quota of namespaces and its use at the end of this time. If no quota is left and pods wait, they wait for quota.",
    view: {
      kind: "table",
      columns: [
        { field: "cluster", title: "cluster" },
        { field: "namespace", title: "namespace" },
        { field: "quota", title: "quota" },
        { field: "resource", title: "resource" },
        { field: "granted", title: "granted", ...hours },
        { field: "used", title: "used", ...hours },
        { field: "left", title: "left", ...hours, thresholds: [{ color: "orange" }, { color: "text", from: 1 }] },
      ],
      sortedBy: "used",
    },
    unit: "none",
    queries: [
      sqlRows(`SELECT cluster, namespace, name AS quota, resource, hard AS granted, used, hard - used AS left
FROM quota_history WHERE valid_from <= $__toTime AND valid_until > $__toTime AND ${among("cluster")} AND ${among("namespace")}
ORDER BY used DESC, cluster, namespace, quota, resource`),
    ],
    empty: "No namespace has a quota of GPUs.",
    width: 24,
    height: 7,
  },
];

export function teamsDashboard(options: DashboardOptions): Dashboard {
  const ofPolicy = [among("cluster")];
  return {
    uid: UIDS.teams,
    title: "GPU teams and namespaces",
    description: "The GPUs of each team, their use and cost, and the rest of the team's quota.",
    variables: [
      policyVariable(options),
      CLUSTERS,
      chargesVariable("team", ofPolicy),
      chargesVariable("namespace", [...ofPolicy, among("team")]),
    ],
    annotations: [],
    sections: [
      section("Now", now(options)),
      section("Cost and use", byTeam(options)),
      section("Where it goes", within(options)),
      section("Savings that gpu-ledger advises", savings(options)),
      section("Quotas", quotas()),
    ],
    from: "now-7d",
    refresh: "5m",
  };
}
