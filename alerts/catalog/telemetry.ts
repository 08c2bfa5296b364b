import { ownNodes } from "../series/own.ts";
import { MEASURED_RESOURCES, state } from "../series/state.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import type { AlertOptions } from "../options.ts";
import { firstLabel, select } from "../promql.ts";
import { PACE_MILLIS } from "../paces.ts";
import { type AlertDefinition } from "./definition.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const telemetry = { group: "telemetry", everyMillis: PACE_MILLIS.twoMinutes } as const;

/** Alerts about missing or wrong telemetry of the fleet. */
export const TELEMETRY_ALERTS: readonly AlertDefinition[] = [
  {
    ...telemetry,
    name: "GPUExporterDown",
    everyMillis: PACE_MILLIS.minute,
    subject: "exporter",
    severity: "warning",
    notify: "ticket",
    forMillis: 5 * MINUTE_MILLIS,
    // An exporter that fails in each hour is one alert.
    keepFiringForMillis: 2 * HOUR_MILLIS,
    expr: silentExporters,
    summary: "A GPU exporter does not answer.",
    description:
      "{{ if $labels.node }}Node {{ $labels.node }}: {{ end }}Prometheus gets no page from the exporter at {{ $labels.instance }} (job {{ $labels.job }}). Its GPUs have no samples: no alert about them can fire, and their held time is charged as unobserved.",
  },
  {
    ...telemetry,
    name: "GPUNodeWithoutTelemetry",
    sources: ["kube-state-metrics"],
    subject: "node",
    severity: "warning",
    notify: "ticket",
    forMillis: 15 * MINUTE_MILLIS,
    expr: (options) => {
      const { cluster, node } = keysOf(options);
      const on = `on (${node.join(", ")})`;
      return `sum by (${node.join(", ")}) (${state(options, "kube_node_status_allocatable", MEASURED_RESOURCES)}) > 0
unless ${on} node:gpu_devices:count
unless ${on} (
  ${state(options, "kube_pod_info")}
  and on (${cluster}, pod) label_replace(node:gpu_devices:count, "pod", "$1", "node", "(.+)")
)`;
    },
    summary: "A node has GPUs without measurements.",
    description:
      "Node {{ $labels.node }} offers {{ $value }} GPUs, or parts of them, to Kubernetes, but no exporter has series of this node.",
  },
  {
    ...telemetry,
    name: "GPUDisappeared",
    sources: ["kube-state-metrics"],
    subject: "node",
    severity: "critical",
    notify: "page",
    forMillis: 10 * MINUTE_MILLIS,
    expr: (options) => {
      const { cluster, node } = keysOf(options);
      const by = node.join(", ");
      const on = `on (${by})`;
      const inventory = ownNodes(options, "gpu_node_inventory_gpus");
      const capacity = `sum by (${by}) (${state(options, "kube_node_status_capacity", 'resource=~"nvidia_com_gpu|amd_com_gpu"')})`;
      // An exporter that answers but shows no GPU any more.
      const none = `group by (${by}) (
      last_over_time(exporter:gpus:count[6h:10m]) and on (${cluster}, instance) (${select("up", options.selectors.exporters)} == 1)
    ) * 0`;
      // A capacity of replicas does not count GPUs: it is several times the maximum of devices.
      const day = "node:gpu_devices:max1d";
      return `(
  max by (${by}) (${inventory}) - ${on} (node:gpus:count or ${on} ${none})
  or ${on}
  (
    ${capacity} - ${on} (node:gpu_devices:count or ${on} ${none})
    unless ${on} (${capacity} / ${on} ${day} >= 2 unless ${on} ${capacity} / ${on} max_over_time(${day}[6d:4h]) < 2)
  )
) > 0`;
    },
    summary: "GPUs of a node have disappeared.",
    description:
      "{{ $value }} GPUs of node {{ $labels.node }} have no series any more. They may have fallen off the bus. Programs on them have failed or hang.",
  },
  {
    ...telemetry,
    name: "GPUTelemetryFrozen",
    counters: [["energy_joules"], ["gpu_temperature_celsius"]],
    subject: "gpu",
    severity: "warning",
    notify: "ticket",
    forMillis: 15 * MINUTE_MILLIS,
    expr: () => "gpu:telemetry_frozen:info",
    summary: "The figures of a GPU do not change.",
    description:
      "The energy counter of the GPU has not changed for 15 minutes. The counter of a powered GPU always grows. All figures of this GPU may be old.",
  },
  {
    ...telemetry,
    name: "GPUProfilingCountersStuck",
    counters: [["gr_engine_active_ratio"], ["gpu_utilization_ratio"]],
    subject: "gpu",
    severity: "warning",
    notify: "ticket",
    forMillis: 15 * MINUTE_MILLIS,
    // Only a busy GPU shows it: without this, the alert would come again with each day's work.
    keepFiringForMillis: DAY_MILLIS,
    expr: () => "gpu:profiling_stuck:info",
    summary: "The profiling counters of a busy GPU are 0.",
    description:
      "The GPU is busy for more than half of the time, but its profiling counters are 0. Tools that use only these counters show an idle GPU. gpu-ledger uses the utilization instead.",
  },
  {
    ...telemetry,
    name: "GPUAttributionMissing",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods", "kube-state-metrics"],
    subject: "pod",
    severity: "warning",
    notify: "ticket",
    forMillis: 30 * MINUTE_MILLIS,
    expr: (options) => {
      const { node, pod } = keysOf(options);
      const on = `on (${pod.join(", ")})`;
      const by = [...node, "namespace", "pod"].join(", ");
      return `(
  group by (${by}) (${state(options, "kube_pod_info")} and ${on} pod:gpu_requests:count)
  and ${on} (${state(options, "kube_pod_status_phase", 'phase="Running"')} == 1)
  and on (${node.join(", ")}) node:gpu_devices:count
)
unless ${on} gpu:device_holder:info
unless on (${node.join(", ")}) node:gpus_without_process_values:count`;
    },
    summary: "A pod runs on GPUs, but no series has its name.",
    description:
      "Pod {{ $labels.namespace }}/{{ $labels.pod }} on node {{ $labels.node }} requests GPUs and runs, but the exporter of the node does not name the pod on any GPU. The use of the pod is not measured.",
  },
  {
    ...telemetry,
    name: "GPUSharingUnmeasured",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods"],
    subject: "node",
    severity: "info",
    notify: "none",
    forMillis: HOUR_MILLIS,
    expr: () => "node:gpus_without_process_values:count > 0",
    summary: "Pods share GPUs of a node without separate figures.",
    description:
      "On node {{ $labels.node }} {{ $value }} GPUs are shared by pods, and the exporter has no figures of each pod. These pods have no activity and no alerts about waste. Use dcgm-exporter 4.8.2 or later with --kubernetes-virtual-gpus.",
  },
];

/** Returns the targets of exporters that do not answer, with their nodes: those of their pods, or else those of the targets' own labels. */
function silentExporters(options: AlertOptions): string {
  const { cluster, pod } = keysOf(options);
  const silent = `(${select("up", options.selectors.exporters)} == 0)`;
  const pods = `group by (${listed([...pod, "node"])}) (${state(options, "kube_pod_info", 'node!=""')})`;
  return `${silent} * ${on(pod)} group_left (node) topk by (${listed(pod)}) (1, ${pods})
or on (${cluster}, job, instance)
${firstLabel(silent, "node", options.nodeLabels)}`;
}
