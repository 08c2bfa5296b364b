import { among, CLUSTERS } from "../ledger.ts";
import { cell, toDashboard, toPage, UIDS } from "../links.ts";
import type { Dashboard, Panel } from "../model.ts";
import type { DashboardOptions } from "../options.ts";
import { instant, range, rows, sqlRange, sqlRows } from "../queries.ts";

const NOBODY_WAITS = "No pod waits for GPUs.";
const devices = { unit: "short", decimals: 0 } as const;

/** Returns one value for each label set, from any leader: while leadership moves, two processors may report. */
const oneValue = (series: string, by: string): string => `max by (${by}) (${series})`;

const now = ({ clusterLabel: cluster }: DashboardOptions): readonly Panel[] => {
  const where = `${cluster}=~"$cluster"`;
  const by = `${cluster}, team, queue, priority_class, reason`;
  const pending = oneValue(`gpu_ledger_pending_devices{${where}}`, by);
  return [
    {
      title: "GPUs asked for",
      description:
        "GPUs, instances or shares that pods without a node ask for. While GPUs are free, look at the reasons below.",
      needs: "C",
      view: { kind: "stat" },
      ...devices,
      thresholds: [{ color: "green" }, { color: "yellow", from: 1 }],
      queries: [instant(`sum(${pending})`)],
      empty: NOBODY_WAITS,
      width: 6,
      height: 5,
      links: [toPage("The queue, pod by pod", "/queue")],
    },
    {
      title: "Longest wait",
      description:
        "How long the pod has waited that waits longest. Hours: it asks for what there is nowhere, or its queue is starved.",
      needs: "C",
      view: { kind: "stat" },
      unit: "s",
      decimals: 0,
      thresholds: [{ color: "green" }, { color: "yellow", from: 3600 }, { color: "red", from: 86_400 }],
      queries: [instant(`max(gpu_ledger_pending_oldest_seconds{${where}})`)],
      empty: NOBODY_WAITS,
      width: 6,
      height: 5,
    },
    {
      title: "Gangs that hold while they wait",
      description:
        "Gangs of which some members hold GPUs while others never had a node. Nobody can use what they hold: let one go, or make room.",
      needs: "C",
      view: { kind: "stat" },
      ...devices,
      thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
      queries: [instant(`sum(${oneValue(`gpu_ledger_gangs_holding{${where}}`, `${cluster}, team`)})`)],
      empty: "No gang holds GPUs while it waits.",
      width: 6,
      height: 5,
    },
    {
      title: "GPUs that they hold",
      description:
        "GPUs, instances or shares that such gangs hold, and that are paid for all the same: the ledger's state waiting.",
      needs: "C",
      view: { kind: "stat" },
      ...devices,
      thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
      queries: [instant(`sum(${oneValue(`gpu_ledger_gangs_holding_devices{${where}}`, `${cluster}, team`)})`)],
      empty: "No gang holds GPUs while it waits.",
      width: 6,
      height: 5,
    },
    {
      title: "What waits, and why",
      description:
        "Pending GPUs by queue, team and Kubernetes' reason. Unschedulable: no node has room for it as it is asked for; SchedulingGated: its queue holds it back.",
      needs: "C",
      view: {
        kind: "table",
        columns: [
          { field: cluster, title: "cluster" },
          { field: "queue", title: "queue" },
          { field: "team", title: "team", link: toDashboard("teams", "What the team holds", { team: cell("team") }) },
          { field: "priority_class", title: "priority" },
          { field: "reason", title: "reason" },
          { field: "Value #A", title: "GPUs", ...devices },
          { field: "Value #B", title: "longest wait", unit: "s", decimals: 0 },
        ],
        sortedBy: "GPUs",
      },
      ...devices,
      queries: [rows(pending), rows(oneValue(`gpu_ledger_pending_oldest_seconds{${where}}`, by))],
      empty: NOBODY_WAITS,
      width: 12,
      height: 9,
    },
    {
      title: "Asked for over time",
      description:
        "The same over time, by queue. A queue that never empties has less than it needs; one that is full each morning needs it then.",
      needs: "C",
      view: { kind: "series", isStacked: true },
      ...devices,
      queries: [range(`sum by (queue, reason) (${pending})`, "{{queue}} {{reason}}")],
      empty: NOBODY_WAITS,
      width: 12,
      height: 9,
    },
  ];
};

const waits = (): readonly Panel[] => {
  const began = `SELECT cluster, uid, any(queue) AS queue, any(created_at) AS created, assumeNotNull(max(scheduled_at)) AS bound
FROM (SELECT * FROM workloads WHERE valid_until > $__fromTime AND valid_from <= $__toTime AND ${among("cluster")})
GROUP BY cluster, uid HAVING bound >= $__fromTime AND bound <= $__toTime`;
  const wait = "dateDiff('second', created, bound)";
  return [
    {
      title: "How long pods waited",
      description:
        "Time from a pod's creation until it had a node, of those that got one then: the middle one, and what nineteen of twenty were below. It rises before anybody complains.",
      needs: "D",
      view: { kind: "series" },
      unit: "s",
      queries: [
        sqlRange(`SELECT $__timeInterval(bound) AS time, quantileExact(0.5)(${wait}) AS middle, quantileExact(0.95)(${wait}) AS "19 of 20"
FROM (${began}) GROUP BY time ORDER BY time`),
      ],
      empty: "No pod got a node in this time.",
      width: 12,
      height: 9,
    },
    {
      title: "Waits by queue",
      description:
        "The same by queue over this time, with how many pods got a node. Queues that wait long and have much left below are configured for others than they serve.",
      needs: "D",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "queue", title: "queue" },
          { field: "pods", title: "pods", ...devices },
          { field: "middle", title: "middle wait", unit: "s", decimals: 0 },
          { field: "most", title: "19 of 20 below", unit: "s", decimals: 0 },
          { field: "longest", title: "longest", unit: "s", decimals: 0 },
        ],
        sortedBy: "19 of 20 below",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, queue, count() AS pods, quantileExact(0.5)(${wait}) AS middle, quantileExact(0.95)(${wait}) AS most, max(${wait}) AS longest
FROM (${began}) GROUP BY cluster, queue ORDER BY most DESC, cluster, queue`),
      ],
      empty: "No pod got a node in this time.",
      width: 12,
      height: 9,
    },
  ];
};

const grants = (): readonly Panel[] => {
  const then = `valid_from <= $__toTime AND valid_until > $__toTime AND ${among("cluster")}`;
  const left = { unit: "short", decimals: 0, thresholds: [{ color: "orange" }, { color: "text", from: 1 }] } as const;
  return [
    {
      title: "Queues",
      description:
        "What each queue may have, has, and has borrowed, at the end of this time. What is left while pods wait: their asks do not fit, or its quota is of another flavour.",
      needs: "D",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "scheduler", title: "scheduler" },
          { field: "queue", title: "queue" },
          { field: "parent", title: "in" },
          { field: "resource", title: "resource" },
          { field: "granted", title: "quota", ...devices },
          { field: "given", title: "admitted", ...devices },
          { field: "lent", title: "borrowed", ...devices },
          { field: "left", title: "left", ...left },
          { field: "waiting", title: "workloads waiting", ...devices },
        ],
        sortedBy: "workloads waiting",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, scheduler, name AS queue, parent, resource, quota AS granted, admitted AS given, borrowed AS lent,
  quota - admitted AS left, pending AS waiting
FROM queue_history WHERE ${then} ORDER BY waiting DESC, cluster, queue, resource`),
      ],
      empty: "No queue of Kueue, Volcano, KAI or Run:ai is known.",
      width: 14,
      height: 9,
    },
    {
      title: "Quotas",
      description: "What namespaces may have of GPUs and have, at the end of this time.",
      needs: "D",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "namespace", title: "namespace" },
          { field: "resource", title: "resource" },
          { field: "granted", title: "granted", ...devices },
          { field: "taken", title: "used", ...devices },
          { field: "left", title: "left", ...left },
        ],
        sortedBy: "used",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, namespace, resource, hard AS granted, used AS taken, hard - used AS left
FROM quota_history WHERE ${then} ORDER BY taken DESC, cluster, namespace, resource`),
      ],
      empty: "No namespace has a quota of GPUs.",
      width: 10,
      height: 9,
    },
  ];
};

/** Returns the dashboard of the pods that wait for GPUs, with reasons and times, and of the free capacity. */
export function queueDashboard(options: DashboardOptions): Dashboard {
  return {
    uid: UIDS.queue,
    title: "GPU queue",
    description:
      "What waits for GPUs, why and for how long, what is held while it waits, and what quotas and queues have left.",
    variables: [CLUSTERS],
    annotations: [],
    sections: [
      { title: "Now", panels: now(options) },
      { title: "Waits", panels: waits() },
      { title: "What is left", panels: grants() },
    ],
    from: "now-24h",
    refresh: "1m",
  };
}
