import { among, CLUSTERS } from "../ledger.ts";
import { cell, toDashboard, toPage, UIDS } from "../links.ts";
import type { Dashboard } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import { WAIT } from "../thresholds.ts";
import type { DashboardOptions } from "../options.ts";
import { instant, range, rows, sqlRange, sqlRows } from "../queries.ts";

const NOBODY_WAITS = "No pod waits for GPUs.";
const devices = { unit: "short", decimals: 0 } as const;

/** Returns one value for each label set, from any leader: while leadership moves, two processors may report. */
const oneValue = (series: string, by: string): string => `max by (${by}) (${series})`;

const now = ({ clusterLabel: cluster }: DashboardOptions): readonly PanelDraft[] => {
  const where = `${cluster}=~"$cluster"`;
  const by = `${cluster}, team, queue, priority_class, reason`;
  const pending = oneValue(`gpu_ledger_pending_devices{${where}}`, by);
  return [
    {
      title: "Requested GPUs",
      description:
        "GPUs, instances or shares that pods without a node request. If GPUs are free, look at the reasons below.",
      needs: "C",
      ...devices,
      thresholds: [{ color: "green" }, { color: "yellow", from: 1 }],
      queries: [instant(`sum(${pending})`)],
      empty: NOBODY_WAITS,
      width: 6,
      links: [toPage("The queue, pod by pod", "/queue")],
    },
    {
      title: "Longest wait",
      description:
        "The longest current wait of a pod. With hours, the pod requests something that no node has, or its queue is starved.",
      needs: "C",
      unit: "s",
      decimals: 0,
      thresholds: WAIT,
      queries: [instant(`max(gpu_ledger_pending_oldest_seconds{${where}})`)],
      empty: NOBODY_WAITS,
      width: 6,
    },
    {
      title: "Waiting gangs with GPUs",
      description:
        "Gangs with members that hold GPUs and members that never had a node. Their GPUs are not usable: remove a gang, or make room for it.",
      needs: "C",
      ...devices,
      thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
      queries: [instant(`sum(${oneValue(`gpu_ledger_gangs_holding{${where}}`, `${cluster}, team`)})`)],
      empty: "No gang holds GPUs while it waits.",
      width: 6,
    },
    {
      title: "GPUs of waiting gangs",
      description: "GPUs, instances or shares that such gangs hold. They have a cost: the ledger's state waiting.",
      needs: "C",
      ...devices,
      thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
      queries: [instant(`sum(${oneValue(`gpu_ledger_gangs_holding_devices{${where}}`, `${cluster}, team`)})`)],
      empty: "No gang holds GPUs while it waits.",
      width: 6,
    },
    {
      title: "Pending GPUs and reasons",
      description:
        "Pending GPUs by queue, team and Kubernetes' reason. Unschedulable: no node has room for the request. SchedulingGated: the queue holds the pod back.",
      needs: "C",
      view: {
        kind: "table",
        columns: [
          { field: cluster, title: "cluster" },
          { field: "queue", title: "queue" },
          { field: "team", title: "team", link: toDashboard("teams", "The GPUs of the team", { team: cell("team") }) },
          { field: "priority_class", title: "priority" },
          { field: "reason", title: "reason" },
          { field: "Value #A", title: "GPUs", ...devices },
          { field: "Value #B", title: "longest wait", unit: "s", decimals: 0, thresholds: WAIT },
        ],
        sortedBy: "GPUs",
      },
      ...devices,
      queries: [rows(pending), rows(oneValue(`gpu_ledger_pending_oldest_seconds{${where}}`, by))],
      empty: NOBODY_WAITS,
    },
    {
      title: "Requested GPUs over time",
      description:
        "Pending GPUs over time, by queue. A queue that is never empty has too small a quota. A queue that is full each morning needs its GPUs then.",
      needs: "C",
      view: { kind: "series", isStacked: true },
      ...devices,
      queries: [range(`sum by (queue, reason) (${pending})`, "{{queue}} {{reason}}")],
      empty: NOBODY_WAITS,
      height: 9,
    },
  ];
};

const waits = (): readonly PanelDraft[] => {
  const began = `SELECT cluster, uid, any(queue) AS queue, any(created_at) AS created, assumeNotNull(max(scheduled_at)) AS bound
FROM (SELECT * FROM workloads WHERE valid_until > $__fromTime AND valid_from <= $__toTime AND ${among("cluster")})
GROUP BY cluster, uid HAVING bound >= $__fromTime AND bound <= $__toTime`;
  const wait = "dateDiff('second', created, bound)";
  return [
    {
      title: "How long pods waited",
      description:
        "Time from the creation of a pod until it has a node, for the pods that got a node at that time: the median and the 95th percentile.",
      view: { kind: "series" },
      unit: "s",
      thresholds: WAIT,
      queries: [
        sqlRange(`SELECT $__timeInterval(bound) AS time, quantileExact(0.5)(${wait}) AS median, quantileExact(0.95)(${wait}) AS "95th percentile"
FROM (${began}) GROUP BY time ORDER BY time`),
      ],
      empty: "No pod got a node in this time.",
      height: 9,
    },
    {
      title: "Waits by queue",
      description:
        "The waits by queue over this time, with the number of pods that got a node. A queue with long waits and much unused quota has the wrong quota for its pods.",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "queue", title: "queue" },
          { field: "pods", title: "pods", ...devices },
          { field: "middle", title: "median wait", unit: "s", decimals: 0, thresholds: WAIT },
          { field: "most", title: "95th percentile", unit: "s", decimals: 0, thresholds: WAIT },
          { field: "longest", title: "longest", unit: "s", decimals: 0, thresholds: WAIT },
        ],
        sortedBy: "95th percentile",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, queue, count() AS pods, quantileExact(0.5)(${wait}) AS middle, quantileExact(0.95)(${wait}) AS most, max(${wait}) AS longest
FROM (${began}) GROUP BY cluster, queue ORDER BY most DESC, cluster, queue`),
      ],
      empty: "No pod got a node in this time.",
    },
  ];
};

const grants = (): readonly PanelDraft[] => {
  const then = `valid_from <= $__toTime AND valid_until > $__toTime AND ${among("cluster")}`;
  const left = { unit: "short", decimals: 0, thresholds: [{ color: "orange" }, { color: "text", from: 1 }] } as const;
  return [
    {
      title: "Queues",
      description:
        "The quota, use and borrowed quota of each queue at the end of this time. If quota is left while pods wait, their requests do not fit, or the quota is for another flavor.",
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
    },
    {
      title: "Quotas",
      description: "The GPU quota of namespaces and its use at the end of this time.",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "namespace", title: "namespace" },
          { field: "resource", title: "resource" },
          { field: "granted", title: "quota", ...devices },
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
    },
  ];
};

export function queueDashboard(options: DashboardOptions): Dashboard {
  return {
    uid: UIDS.queue,
    title: "GPU queue",
    description:
      "Pods that wait for GPUs, with reasons and times; GPUs that waiting gangs hold; and the rest of quotas and queues.",
    variables: [CLUSTERS],
    annotations: [],
    sections: [section("Now", now(options)), section("Waits", waits()), section("Quotas and queues", grants())],
    from: "now-24h",
    refresh: "1m",
  };
}
