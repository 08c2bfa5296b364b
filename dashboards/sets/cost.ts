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
} from "../ledger.ts";
import { cell, toDashboard, toPage, UIDS } from "../links.ts";
import type { Dashboard, Thresholds } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import type { DashboardOptions } from "../options.ts";
import { sqlRange, sqlRows } from "../queries.ts";

const WHOSE = [among("cluster"), among("team")].join(" AND ");
const OF_POLICY = `policy = ${chosen("policy")} AND ${WHOSE}`;
const CHARGED = `${IN_TIME} AND ${OF_POLICY}`;
const NOTHING_CHARGED =
  "There are no charges in this time: the time may be too short, or gpu-ledger has not charged it yet.";
const MOST = 12;

/** The month in which the dashboard's time ends. Its statements will contain what is booked in it. */
const MONTH = "toStartOfMonth($__toTime, 'UTC')";
const BOOKED = `billing_period = ${MONTH} AND ${OF_POLICY}`;
/** The recent cost of an hour: the mean of the last 24 whole hours. */
const BURN = `toFloat64(sumIf(effective_cost, from_at >= toStartOfHour($__toTime, 'UTC') - toIntervalHour(24) AND from_at < toStartOfHour($__toTime, 'UTC'))) / 24`;
const HOURS_LEFT = `(toUnixTimestamp(toDateTime(${MONTH} + toIntervalMonth(1), 'UTC')) - toUnixTimestamp($__toTime)) / 3600`;
/** The lines of that day and that month, regardless of the start of the dashboard's time. */
const LATELY = `(billing_period = ${MONTH} OR from_at >= toStartOfHour($__toTime, 'UTC') - toIntervalHour(24)) AND ${OF_POLICY}`;

const ALL_OR_NONE: Thresholds = [{ color: "green" }, { color: "orange", from: 0.000001 }];

const month = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 2 } as const;
  return [
    {
      title: "Booked this month",
      description:
        "All charges booked in the month of the end of this time, with corrections of earlier months. They equal the sum of its statements " +
        "when the month is closed.",
      ...unit,
      queries: [sqlRows(`SELECT sum(effective_cost) AS booked FROM ${CHARGES} WHERE ${BOOKED}`)],
      empty: NOTHING_CHARGED,
      width: 6,
      links: [
        toPage("The statements of the month", "/statement?period=${__to:date:YYYY-MM}&policy=${policy:percentencode}"),
      ],
    },
    {
      title: "Cost per hour",
      description:
        "The mean cost of an hour over the last 24 whole hours. It changes when capacity, prices or owners change.",
      ...unit,
      queries: [sqlRows(`SELECT ${BURN} AS hour FROM ${CHARGES} WHERE ${LATELY}`)],
      empty: NOTHING_CHARGED,
    },
    {
      title: "Forecast for the month",
      description:
        "The booked cost, plus the rest of the month at the current cost per hour. Compare it with the budget before the month ends.",
      ...unit,
      queries: [
        sqlRows(
          `SELECT toFloat64(sumIf(effective_cost, billing_period = ${MONTH})) + ${BURN} * ${HOURS_LEFT} AS month FROM ${CHARGES} WHERE ${LATELY}`,
        ),
      ],
      empty: NOTHING_CHARGED,
      width: 6,
    },
    {
      title: "Unpriced GPU-hours",
      description:
        "GPU-hours of the month without a visible price. They have no cost here, but the machines have a cost.",
      unit: "none",
      decimals: 1,
      thresholds: ALL_OR_NONE,
      queries: [sqlRows(`SELECT sumIf(gpu_hours, effective_cost IS NULL) AS unpriced FROM ${CHARGES} WHERE ${BOOKED}`)],
      empty: NOTHING_CHARGED,
      links: [toPage("Prices and their gaps", "/prices")],
    },
    {
      title: "Unowned",
      description:
        "Cost without an owner, because no rule gives a team. The table below has its holders: add an owner for them.",
      ...unit,
      thresholds: ALL_OR_NONE,
      queries: [
        sqlRows(`SELECT sumIf(ifNull(effective_cost, 0), team = 'unowned') AS unowned FROM ${CHARGES} WHERE ${BOOKED}`),
      ],
      empty: NOTHING_CHARGED,
      links: [toPage("Owners and their gaps", "/prices")],
    },
  ];
};

const overTime = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 2 } as const;
  return [
    {
      title: "Cost per hour by state",
      description:
        "Cost per hour by state: active is used; idle, waiting, starting and unobserved are held; stranded and unallocated have no holder; " +
        "unavailable could not be used. All states except active are possible savings.",
      view: { kind: "series", isStacked: true, isBars: true },
      ...unit,
      queries: [
        sqlRange(`SELECT ${STEP} AS time, state, ${byHour("toFloat64(sum(effective_cost))")} AS Value
FROM ${CHARGES} WHERE ${CHARGED} AND effective_cost IS NOT NULL GROUP BY time, state ORDER BY time, state`),
      ],
      empty: NOTHING_CHARGED,
      height: 10,
    },
    {
      title: "Cost per hour by team",
      description: `Cost per hour by payer (highest cost first). All payers after the first ${MOST} are one sum. The team platform pays for GPUs without a holder.`,
      view: { kind: "series", isStacked: true, isBars: true },
      ...unit,
      queries: [sqlRange(costByDearest("team", CHARGED, MOST))],
      empty: NOTHING_CHARGED,
      height: 10,
    },
  ];
};

const where = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 2 } as const;
  return [
    {
      title: "Teams by state",
      description:
        "Hours that began in this time, by payer and state. Sort by a column to find the largest possible savings. A click opens the team's workloads.",
      view: {
        kind: "table",
        columns: [
          {
            field: "team",
            title: "team",
            link: toDashboard("teams", "The team's workloads", {
              team: cell("team"),
              policy: "${policy:percentencode}",
            }),
          },
          { field: "cost", title: "cost", ...unit },
          { field: "active", title: "active", ...unit },
          { field: "idle", title: "idle", ...unit },
          { field: "waiting", title: "waiting", ...unit },
          { field: "unobserved", title: "unobserved", ...unit },
          { field: "free", title: "free, stranded or away", ...unit },
          { field: "beside", title: "beside GPUs", ...unit },
          { field: "unpriced", title: "unpriced GPU-hours", unit: "none", decimals: 1 },
        ],
        sortedBy: "cost",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT team, sum(ifNull(effective_cost, 0)) AS cost, sumIf(ifNull(effective_cost, 0), state = 'active') AS active,
  sumIf(ifNull(effective_cost, 0), state = 'idle') AS idle, sumIf(ifNull(effective_cost, 0), state IN ('waiting', 'starting')) AS waiting,
  sumIf(ifNull(effective_cost, 0), state = 'unobserved') AS unobserved,
  sumIf(ifNull(effective_cost, 0), state IN ('unallocated', 'stranded', 'unavailable')) AS free,
  sumIf(ifNull(effective_cost, 0), NOT (${OF_GPUS})) AS beside, sumIf(gpu_hours, effective_cost IS NULL) AS unpriced
FROM ${CHARGES} WHERE ${CHARGED} GROUP BY team ORDER BY cost DESC, team`),
      ],
      empty: NOTHING_CHARGED,
      width: 24,
      height: 10,
    },
    {
      title: "Waste by model",
      description:
        "The cost of GPU-time without activity, by model and pool. A high cost of one model means that it has too many GPUs, or too few users.",
      view: {
        kind: "table",
        columns: [
          { field: "gpu_model", title: "model" },
          { field: "pool", title: "pool" },
          { field: "capacity_type", title: "capacity" },
          { field: "state", title: "state" },
          { field: "because", title: "because" },
          { field: "hours", title: "GPU-hours", unit: "none", decimals: 1 },
          { field: "cost", title: "cost", ...unit },
        ],
        sortedBy: "cost",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT gpu_model, pool, capacity_type, state, because, sum(gpu_hours) AS hours, sum(ifNull(effective_cost, 0)) AS cost
FROM ${CHARGES} WHERE ${CHARGED} AND ${FOR_NOTHING} GROUP BY gpu_model, pool, capacity_type, state, because ORDER BY cost DESC LIMIT 200`),
      ],
      empty: NOTHING_CHARGED,
      height: 10,
    },
    {
      title: "Policies side by side",
      description:
        "The same cost under each kept policy: the parts of teams, the platform and unowned usage. The sum is exactly the same under each policy.",
      view: {
        kind: "table",
        columns: [
          {
            field: "policy",
            title: "policy",
            link: toPage("Policies side by side", "/policies"),
          },
          { field: "cost", title: "all", ...unit },
          { field: "teams", title: "teams", ...unit },
          { field: "platform", title: "platform", ...unit },
          { field: "unowned", title: "unowned", ...unit },
        ],
        sortedBy: "policy",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT policy, sum(ifNull(effective_cost, 0)) AS cost, sumIf(ifNull(effective_cost, 0), team NOT IN ('platform', 'unowned')) AS teams,
  sumIf(ifNull(effective_cost, 0), team = 'platform') AS platform, sumIf(ifNull(effective_cost, 0), team = 'unowned') AS unowned
FROM ${CHARGES} WHERE ${IN_TIME} AND ${WHOSE} GROUP BY policy ORDER BY policy`),
      ],
      empty: NOTHING_CHARGED,
      height: 10,
    },
  ];
};

const gaps = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 2 } as const;
  return [
    {
      title: "Without a price",
      description:
        "GPU-time without a visible price. Add a matching entry to the price book; open hours are then charged again.",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "gpu_model", title: "model" },
          { field: "instance_type", title: "instance type" },
          { field: "pool", title: "pool" },
          { field: "capacity_type", title: "capacity" },
          { field: "hours", title: "GPU-hours", unit: "none", decimals: 1 },
        ],
        sortedBy: "GPU-hours",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, gpu_model, instance_type, pool, capacity_type, sum(gpu_hours) AS hours
FROM ${CHARGES} WHERE ${CHARGED} AND effective_cost IS NULL GROUP BY cluster, gpu_model, instance_type, pool, capacity_type
ORDER BY hours DESC LIMIT 200`),
      ],
      empty: "All usage has a price.",
      height: 8,
    },
    {
      title: "Without an owner",
      description: "Holders of GPUs without a team by any rule. Add a label to the namespace or a rule to owners.",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "namespace", title: "namespace" },
          { field: "workload_type", title: "type" },
          { field: "hours", title: "GPU-hours", unit: "none", decimals: 1 },
          { field: "cost", title: "cost", ...unit },
        ],
        sortedBy: "cost",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, namespace, workload_type, sum(gpu_hours) AS hours, sum(ifNull(effective_cost, 0)) AS cost
FROM ${CHARGES} WHERE ${CHARGED} AND team = 'unowned' GROUP BY cluster, namespace, workload_type ORDER BY cost DESC LIMIT 200`),
      ],
      empty: "All usage has an owner.",
      height: 8,
    },
  ];
};

const closed = (options: DashboardOptions): readonly PanelDraft[] => [
  {
    title: "Statements",
    description:
      "The frozen amounts of closed months: exact, and posted as invoiced. They never change; corrections are booked in an open month.",
    view: {
      kind: "table",
      columns: [
        {
          field: "month",
          title: "month",
          link: toPage("The statement, in every format", `/statement?period=${cell("month")}`),
        },
        { field: "team", title: "team" },
        { field: "cost_center", title: "cost center" },
        { field: "cost", title: "exact cost", unit: money(options), decimals: 9 },
        { field: "corrections", title: "corrections", unit: money(options), decimals: 2 },
        { field: "invoiced", title: "posted", unit: money(options), decimals: 2 },
      ],
      sortedBy: "month",
    },
    unit: "none",
    queries: [
      sqlRows(`SELECT formatDateTime(billing_period, '%Y-%m') AS month, team, cost_center, effective_cost AS cost, correction_cost AS corrections, posted AS invoiced
FROM statements WHERE close_id IN (SELECT close_id FROM closed_periods) AND ${among("team")} ORDER BY billing_period DESC, team, cost_center`),
    ],
    empty: "No month is closed yet.",
    width: 24,
    height: 8,
  },
];

/** Returns the dashboard of the fleet's cost, its payers, and the use of the money. */
export function costDashboard(options: DashboardOptions): Dashboard {
  return {
    uid: UIDS.cost,
    title: "GPU cost",
    description:
      "The cost of the fleet by payer and state, and usage without a price or an owner. The figures are the ledger's own.",
    variables: [policyVariable(options), CLUSTERS, chargesVariable("team", [among("cluster")])],
    annotations: [],
    sections: [
      section("The month", month(options)),
      section("Over time", overTime(options)),
      section("Where it goes", where(options)),
      section("Gaps", gaps(options)),
      section("Closed months", closed(options)),
    ],
    from: "now-7d",
    refresh: "5m",
  };
}
