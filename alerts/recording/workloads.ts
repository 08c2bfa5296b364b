import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { relabel, stateLabel, withLabel } from "../promql.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { ownPods } from "../series/own.ts";
import { GPU_RESOURCES, optedOut, state } from "../series/state.ts";

/** The labels of a workload beside its name. */
export const OWNER_LABELS = ["team", "cost_centre", "workload", "workload_type", "queue"] as const;

/**
 * Returns the rules for the owner of each pod that requests GPUs: from our processor, or else from kube-state-metrics
 * with the labels that are allowed there.
 */
export function workloadRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, pod } = keysOf(options);
  return [
    {
      record: "pod:gpu_requests:count",
      expr: `sum by (${listed(pod)}) (${state(options, "kube_pod_container_resource_requests", GPU_RESOURCES)})`,
    },
    {
      // One result for each pod, even if it exists twice while one processor takes over from another.
      record: "pod:processor_owner:info",
      expr: one(options, OWNER_LABELS, ownPods(options, "gpu_workload_info")),
    },
    {
      record: "pod:owner_sought:info",
      expr: `group by (${listed(pod)}) (pod:gpu_requests:count unless ${on(pod)} pod:processor_owner:info)`,
    },
    { record: "pod:owner_team:info", expr: one(options, ["team", "cost_centre"], teamLabels(options)) },
    { record: "pod:owner_workload:info", expr: one(options, ["workload", "workload_type"], controllers(options)) },
    {
      record: "gpu:workload:info",
      expr: `pod:processor_owner:info
or ${on(pod)}
pod:owner_workload:info * ${on(pod)} group_left (team, cost_centre) pod:owner_team:info
or ${on(pod)}
pod:owner_team:info
or ${on(pod)}
pod:owner_workload:info`,
    },
    {
      record: "pod:alerts_off:info",
      expr: `group by (${listed(pod)}) (${optedOut(options, "kube_pod_labels")})
or
group by (${listed(pod)}) (
  gpu:device_holder:info
  and on (${cluster}, namespace) ${optedOut(options, "kube_namespace_labels")}
)`,
    },
  ];
}

/** The rules for the use of devices by workloads, for each device and for all together. The dashboards of workloads read only these. */
export function evennessRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, pod, device } = keysOf(options);
  const ofWorkloads = `${on(pod)} group_left (workload) gpu:workload:info{workload!=""}`;
  const [activity, memory] = ["gpu:workload_activity:ratio", "gpu:workload_memory_used:ratio"] as const;
  const spread = (series: string): string => {
    const by = `by (${cluster}, namespace, workload)`;
    return [
      withLabel(`min ${by} (${series})`, "quantile", "0"),
      withLabel(`quantile ${by} (0.5, ${series})`, "quantile", "0.5"),
      withLabel(`max ${by} (${series})`, "quantile", "1"),
    ].join("\nor\n");
  };
  return [
    { record: activity, expr: `gpu:pod_activity:ratio * ${ofWorkloads}` },
    {
      record: memory,
      expr: `gpu:device_holder:info * ${ofWorkloads}\n* ${on(device)} group_left () gpu:memory_used:ratio`,
    },
    { record: "workload:gpu_activity:quantile", expr: spread(activity) },
    { record: "workload:gpu_memory_used:quantile", expr: spread(memory) },
  ];
}

/** Returns the rules for the hourly cost of each pod. */
export function costRules(options: AlertOptions): readonly RecordingRule[] {
  const { pod } = keysOf(options);
  return [
    {
      record: "pod:gpu_cost_per_hour:sum",
      expr: `max by (${listed([...pod, "currency"])}) (${ownPods(options, "gpu_workload_cost_per_hour")})`,
    },
  ];
}

/** Returns one series for each pod, any of several. */
function one(options: AlertOptions, labels: readonly string[], expr: string): string {
  const { pod } = keysOf(options);
  return `topk by (${listed(pod)}) (1, group by (${listed([...pod, ...labels])}) (\n  ${expr}\n))`;
}

/** Returns the team of each pod without a processor's data: the label of the pod, else that of its namespace. */
function teamLabels(options: AlertOptions): string {
  const { cluster, pod } = keysOf(options);
  const { team, costCenter } = options.ownerLabels;
  const labeled = (series: string): string =>
    relabel(relabel(series, "team", stateLabel(team)), "cost_centre", stateLabel(costCenter));
  const isLabeled = `${stateLabel(team)}!=""`;
  const ofPods = `(${state(options, "kube_pod_labels", isLabeled)} and ${on(pod)} pod:owner_sought:info)`;
  const ofNamespaces = labeled(state(options, "kube_namespace_labels", isLabeled));
  return `${labeled(ofPods)}
  or ${on(pod)}
  pod:owner_sought:info * on (${cluster}, namespace) group_left (team, cost_centre)
    group by (${cluster}, namespace, team, cost_centre) (${ofNamespaces})`;
}

function controllers(options: AlertOptions): string {
  const owner = state(options, "kube_pod_owner", 'owner_is_controller="true"');
  const ofPods = `(${owner} and ${on(keysOf(options).pod)} pod:owner_sought:info)`;
  return relabel(relabel(ofPods, "workload", "owner_name"), "workload_type", "owner_kind");
}
