import type { AlertOptions } from "../options.ts";
import { anyOf, quote, select, stateLabel } from "../promql.ts";

/** Series of kube-state-metrics that rules and dashboards read, with their labels (its docs/metrics, version 2). */
export const STATE_SERIES: Readonly<Record<string, readonly string[]>> = {
  kube_node_labels: ["node"],
  kube_node_status_allocatable: ["node", "resource", "unit"],
  kube_node_status_capacity: ["node", "resource", "unit"],
  kube_namespace_labels: ["namespace"],
  kube_pod_container_info: ["namespace", "pod", "uid", "container", "image"],
  kube_pod_container_status_restarts_total: ["namespace", "pod", "uid", "container"],
  kube_pod_container_resource_requests: ["namespace", "pod", "container", "node", "resource", "unit"],
  kube_pod_info: ["namespace", "pod", "node", "host_ip", "pod_ip", "uid"],
  kube_pod_labels: ["namespace", "pod", "uid"],
  kube_pod_owner: ["namespace", "pod", "uid", "owner_kind", "owner_name", "owner_is_controller"],
  kube_pod_start_time: ["namespace", "pod", "uid"],
  kube_pod_status_phase: ["namespace", "pod", "phase", "uid"],
};

/** Kubernetes' resources that are GPUs or parts of them, in the form of kube-state-metrics: every other character is an underscore. */
export const GPU_RESOURCES = anyOf("resource", [
  "nvidia_com_gpu.*",
  "nvidia_com_mig_.*",
  "amd_com_gpu.*",
  "gpu_intel_com_.*",
]);

/** The resources that exporters with supported names measure. */
export const MEASURED_RESOURCES = anyOf("resource", ["nvidia_com_gpu.*", "nvidia_com_mig_.*", "amd_com_gpu.*"]);

/** Returns a series of kube-state-metrics. */
export function state({ selectors }: AlertOptions, metric: string, ...matchers: readonly string[]): string {
  return select(metric, ...matchers, selectors.kubeStateMetrics);
}

/** Returns pods or namespaces with the label that opts out of alerts about waste. */
export function optedOut(options: AlertOptions, metric: "kube_pod_labels" | "kube_namespace_labels"): string {
  const { label, value } = options.optOut;
  return state(options, metric, `${stateLabel(label)}=${quote(value)}`);
}
