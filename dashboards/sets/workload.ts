import type { DashboardOptions } from "../options.ts";
import { keysOf, listed } from "../../alerts/series/keys.ts";
import { state } from "../../alerts/series/state.ts";
import { byHour, chosen, IN_TIME, money, OF_GPUS, policyVariable, STEP, WORKLOAD_CHARGES } from "../ledger.ts";
import { cell, toDashboard, toPage, UIDS } from "../links.ts";
import type { Dashboard } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import { goodBelow, numberOf, TENSOR, UTILIZATION } from "../thresholds.ts";
import { instant, range, rows, sqlRange, sqlRows } from "../queries.ts";
import { labelVariable } from "../variables.ts";

const NO_PODS = "Choose a workload: no pod of this one held a GPU in this time.";
/** The series with the properties of a workload that wants GPUs. */
const KNOWN = "gpu:workload:info";

/** The names that panels use: the chosen workload, and expressions for only its pods. */
interface Names {
  readonly cluster: string;
  /** Its activity by pod and device. */
  readonly activity: string;
  /** The used part of its devices' memory, by pod and device. */
  readonly memory: string;
  /** Returns a selector of series of pods, limited to its own. */
  ofPods(series: string): string;
  readonly device: string;
  /** Matchers of its namespace, and of itself. */
  readonly namespace: string;
  readonly workload: string;
}

function namesOf(options: DashboardOptions): Names {
  const { cluster, pod, device } = keysOf(options);
  const namespace = `${cluster}=~"$cluster", namespace=~"$namespace"`;
  const workload = `${namespace}, workload=~"$workload"`;
  const pods = `on (${listed(pod)}) ${KNOWN}{${workload}}`;
  return {
    cluster,
    activity: `gpu:pod_activity:ratio{${namespace}} and ${pods}`,
    memory: `gpu:workload_memory_used:ratio{${workload}}`,
    workload,
    ofPods: (series) => `${series} and ${pods}`,
    namespace,
    device: listed(device),
  };
}

const now = (options: DashboardOptions): readonly PanelDraft[] => {
  const { activity, ofPods, namespace } = namesOf(options);
  return [
    {
      title: "Devices",
      description: "GPUs and instances that its pods hold, by the exporters. A shared one counts for each pod.",
      decimals: 0,
      queries: [instant(`count(${activity})`)],
      empty: NO_PODS,
    },
    {
      title: "Mean activity",
      description:
        "The mean activity of its devices. Below a third, the workload needs fewer of them, or waits for something other than GPUs.",
      unit: "percentunit",
      decimals: 1,
      thresholds: UTILIZATION,
      queries: [instant(`avg(${activity})`)],
      empty: NO_PODS,
    },
    {
      title: "Waiting pods",
      description:
        "Its pods without a node. If members wait while others hold GPUs, the held GPUs are not usable: look at the queue.",
      decimals: 0,
      thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
      queries: [instant(`sum(${ofPods(state(options, "kube_pod_status_phase", namespace, 'phase="Pending"'))})`)],
      empty: "Kubernetes has no pod of this workload.",
      links: [toPage("The queue", "/queue")],
    },
    {
      title: "Restarts",
      description: "Restarts of its containers in this time. The results of each ended run may be lost.",
      decimals: 0,
      thresholds: [{ color: "green" }, { color: "orange", from: 1 }],
      queries: [
        instant(
          `sum(${ofPods(`increase(${state(options, "kube_pod_container_status_restarts_total", namespace)}[$__range])`)})`,
        ),
      ],
      empty: "Kubernetes has no container of this workload.",
    },
    {
      title: "Cost per hour",
      description:
        "The current cost per hour of its GPUs by the price book, without power. The exact charges of the ledger are below.",
      needs: "C",
      unit: money(options),
      decimals: 2,
      queries: [instant(`sum(${ofPods(`pod:gpu_cost_per_hour:sum{${namespace}}`)})`)],
      empty: "It holds no GPU with a price.",
      width: 8,
    },
  ];
};

const sideBySide = (options: DashboardOptions): readonly PanelDraft[] => {
  const { cluster, activity, memory, workload, device } = namesOf(options);
  const pod = `${device}, namespace, pod`;
  const share = { unit: "percentunit", decimals: 1 } as const;
  const memoryLimit = goodBelow(numberOf(options, "HighGPUMemoryUsage", "threshold"));
  const warm = goodBelow(numberOf(options, "HighGPUTemperature", "threshold"));
  const quantile = (of: "activity" | "memory_used", which: "0" | "0.5" | "1"): string =>
    `max(workload:gpu_${of}:quantile{${workload}, quantile="${which}"})`;
  return [
    {
      title: "Its devices side by side",
      description:
        "Each of its devices: the activity now and over this time, the used memory, the temperature. A straggler is far less active than the others of a job " +
        "that works in step, and slows all of them down. A click opens the GPU.",
      view: {
        kind: "table",
        columns: [
          { field: "pod", title: "pod" },
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
          { field: "GPU_I_ID", title: "instance" },
          { field: "Value #A", title: "active now", ...share },
          {
            field: "Value #B",
            title: "active over time",
            ...share,
            thresholds: UTILIZATION,
          },
          { field: "Value #C", title: "memory in use", ...share, thresholds: memoryLimit },
          { field: "Value #D", title: "temperature", unit: "celsius", decimals: 0, thresholds: warm },
        ],
        sortedBy: "active over time",
      },
      unit: "none",
      queries: [
        rows(`sum by (${pod}) (${activity})`),
        rows(
          `sum by (${pod}) (avg_over_time(gpu:workload_activity:ratio{${workload}}[$__range]) and on (${pod}) (${activity}))`,
        ),
        rows(`sum by (${pod}) (${memory})`),
        rows(
          `max by (${pod}) (gpu:device_holder:info{${cluster}=~"$cluster", namespace=~"$namespace"} and on (${pod}) (${activity})) * on (${cluster}, node, UUID) group_left () gpu:temperature:celsius{${cluster}=~"$cluster"}`,
        ),
      ],
      empty: NO_PODS,
      width: 24,
      height: 10,
    },
    {
      title: "Spread of activity",
      description:
        "The lowest, median and highest activity of its devices. Lines close together are a job in step. A lowest line far below is a straggler, or a member that waits.",
      view: { kind: "series", max: 1 },
      unit: "percentunit",
      thresholds: UTILIZATION,
      queries: [
        range(quantile("activity", "1"), "most active"),
        range(quantile("activity", "0.5"), "median"),
        range(quantile("activity", "0"), "least active"),
      ],
      empty: NO_PODS,
      height: 9,
    },
    {
      title: "Memory in use",
      description:
        "The highest, median and lowest used memory of its devices, as a part of their memory. Far below half for weeks: a smaller GPU or an instance is enough.",
      view: { kind: "series", max: 1 },
      unit: "percentunit",
      thresholds: memoryLimit,
      queries: [
        range(quantile("memory_used", "1"), "fullest"),
        range(quantile("memory_used", "0.5"), "median"),
        range(quantile("memory_used", "0"), "emptiest"),
      ],
      empty: NO_PODS,
      height: 9,
    },
  ];
};

/** The condition for the choice, on rows of ClickHouse. A Prometheus without cluster names has one cluster. */
const CHOSEN = `${chosen("cluster")} IN ('', cluster) AND namespace = ${chosen("namespace")} AND workload = ${chosen("workload")}`;
/** SQL for its pods at any time. */
const PODS = `SELECT DISTINCT cluster, namespace, pod FROM workloads WHERE ${CHOSEN}`;

const history = (): readonly PanelDraft[] => {
  const per = (sum: string, time: string): string => `sum(${sum}) / nullIf(sum(${time}), 0)`;
  // Rows are sorted by node. Those of other nodes are skipped.
  const ofPods = `FROM gpu_5m_published WHERE $__timeFilter(bucket) AND scope = 'device'
  AND (cluster, node) IN (SELECT DISTINCT cluster, node FROM workloads WHERE ${CHOSEN} AND node != '')
  AND (cluster, holder_namespace, holder_pod) IN (${PODS})`;
  return [
    {
      title: "Tensor cores and memory bus",
      description:
        "Cycles in which tensor cores were busy, and cycles in which memory was read or written, of all its devices together. Memory high and tensor cores low: the workload waits for memory.",
      view: { kind: "series", max: 1 },
      unit: "percentunit",
      thresholds: TENSOR,
      queries: [
        sqlRange(`SELECT $__timeInterval(bucket) AS time, ${per("tensor_ppm_ms", "tensor_ms")} / 1e6 AS "tensor cores", ${per("dram_ppm_ms", "dram_ms")} / 1e6 AS "memory bus",
  ${per("sm_ppm_ms", "sm_ms")} / 1e6 AS multiprocessors
${ofPods} GROUP BY time ORDER BY time`),
      ],
      empty: "Exporters have no such values of its devices in this time.",
    },
    {
      title: "Power",
      description:
        "Mean power draw of one of its GPUs. Power follows the computation more closely than activity does: a flat low line is a program that spins.",
      view: { kind: "series" },
      unit: "watt",
      queries: [
        sqlRange(`SELECT $__timeInterval(bucket) AS time, ${per("power_mw_ms", "power_ms")} / 1000 AS "mean power of a GPU"
${ofPods} GROUP BY time ORDER BY time`),
      ],
      empty: "Exporters have no power of its devices in this time.",
    },
    {
      title: "Its pods",
      description:
        "Its pods in this time, their waits for a node and for their start, and how they ended. Many short pods are restarts by Kubernetes.",
      view: {
        kind: "table",
        columns: [
          { field: "pod", title: "pod" },
          {
            field: "node",
            title: "node",
            link: toDashboard("gpu", "The node and its GPUs", { cluster: cell("cluster"), node: cell("node") }),
          },
          { field: "phase", title: "phase" },
          { field: "created", title: "created", unit: "dateTimeAsIso" },
          { field: "waited", title: "waited for a node", unit: "s" },
          { field: "starting", title: "took to start", unit: "s" },
          { field: "ran", title: "has run", unit: "s" },
          { field: "cluster", title: "cluster" },
        ],
        sortedBy: "created",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, pod, argMax(node, valid_from) AS node, argMax(phase, valid_from) AS phase, any(created_at) AS created,
  dateDiff('second', any(created_at), least(ifNull(max(scheduled_at), $__toTime), $__toTime)) AS waited,
  dateDiff('second', max(scheduled_at), least(max(started_at), $__toTime)) AS starting,
  dateDiff('second', max(started_at), least(ifNull(max(finished_at), $__toTime), $__toTime)) AS ran
FROM (SELECT * FROM workloads WHERE ${CHOSEN} AND valid_from <= $__toTime AND valid_until > $__fromTime)
GROUP BY cluster, uid, pod ORDER BY created DESC LIMIT 500`),
      ],
      empty: "It had no pod in this time.",
      width: 24,
      height: 8,
    },
  ];
};

const cost = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 2 } as const;
  const whose = `policy = ${chosen("policy")} AND ${CHOSEN}`;
  return [
    {
      title: "Cost so far",
      description: "All its charges until the end of the selected time, from its first charge on.",
      ...unit,
      queries: [
        sqlRows(`SELECT sum(effective_cost) AS cost FROM ${WORKLOAD_CHARGES} WHERE from_at <= $__toTime AND ${whose}`),
      ],
      empty: "It has no charges yet.",
      width: 6,
      height: 9,
      links: [
        toPage(
          "The explanation of the cost",
          "/explain?policy=${policy:percentencode}&where=workload%3D${workload:percentencode}",
        ),
      ],
    },
    {
      title: "Cost by state",
      description: "Its cost per hour by state. A smaller or shorter workload would save the states other than active.",
      view: { kind: "series", isStacked: true, isBars: true },
      ...unit,
      queries: [
        sqlRange(`SELECT ${STEP} AS time, state, ${byHour("toFloat64(sum(effective_cost))")} AS Value
FROM ${WORKLOAD_CHARGES} WHERE ${IN_TIME} AND ${whose} AND ${OF_GPUS} AND effective_cost IS NOT NULL GROUP BY time, state ORDER BY time, state`),
      ],
      empty: "It has no charges in this time.",
      width: 18,
      height: 9,
    },
  ];
};

/** Returns the dashboard of one job, service or notebook: its use of GPUs, and its cost. */
export function workloadDashboard(options: DashboardOptions): Dashboard {
  const { ofPods, namespace } = namesOf(options);
  const { clusterLabel: cluster } = options;
  const began = `pod:gpu_start:timestamp{${namespace}}`;
  return {
    uid: UIDS.workload,
    title: "GPU workload",
    description: "One job, service or notebook: its GPUs side by side, its waits and restarts, and its cost.",
    variables: [
      labelVariable("cluster", "cluster", cluster, KNOWN, { isSingle: true }),
      labelVariable("namespace", "namespace", "namespace", `${KNOWN}{${cluster}=~"$cluster"}`, { isSingle: true }),
      labelVariable("workload", "workload", "workload", `${KNOWN}{${namespace}}`, { isSingle: true }),
      policyVariable(options),
    ],
    annotations: [
      {
        name: "XID",
        expr: `present_over_time(gpu:xid_new:info{${namespace}}[$__interval])`,
        text: "XID {{code}} on {{node}} {{UUID}}, held by {{namespace}}/{{pod}}",
        color: "red",
      },
      {
        name: "New pods",
        expr: `count(${ofPods(began)} unless ${began} offset $__interval) > 0`,
        text: "Its pods began to hold GPUs",
        color: "blue",
      },
    ],
    sections: [
      section("Now", now(options)),
      section("Side by side", sideBySide(options)),
      section("In time", history()),
      section("Money", cost(options)),
    ],
    from: "now-24h",
    refresh: "1m",
  };
}
