import { ownNodes } from "../series/own.ts";
import { MEASURED_RESOURCES, state } from "../series/state.ts";
import { keysOf } from "../series/keys.ts";
import { select } from "../promql.ts";
import { PACE_MILLIS } from "../paces.ts";
import { type AlertDefinition } from "./definition.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

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
    expr: ({ selectors }) => `${select("up", selectors.exporters)} == 0`,
    summary: "A GPU exporter does not answer.",
    description:
      "Prometheus gets no page from the exporter at {{ $labels.instance }} (job {{ $labels.job }}). Its GPUs are not seen: no alert about them can fire, and what is held there is charged as unobserved.",
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
    summary: "A node offers GPUs and nothing measures them.",
    description:
      "Node {{ $labels.node }} offers {{ $value }} GPUs, or parts of them, to Kubernetes, and no series of an exporter comes from it.",
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
      "{{ $value }} GPUs that node {{ $labels.node }} should have are not seen. They may have fallen off the bus: what runs on them has failed or hangs.",
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
    summary: "The figures of a GPU do not move.",
    description:
      "The energy counter of the GPU has stood still for a quarter of an hour, which no GPU that is powered does: all its figures may be old.",
  },
  {
    ...telemetry,
    name: "GPUProfilingCountersStuck",
    counters: [["gr_engine_active_ratio"], ["gpu_utilization_ratio"]],
    subject: "gpu",
    severity: "warning",
    notify: "ticket",
    forMillis: 15 * MINUTE_MILLIS,
    expr: () => "gpu:profiling_stuck:info",
    summary: "The profiling counters of a GPU stand at 0 while it works.",
    description:
      "The GPU is busy for over half of the time, and its profiling counters say that nothing runs. What reads them alone takes it for idle; ours fall back to its utilisation.",
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
    summary: "A pod runs on GPUs and no series carries its name.",
    description:
      "Pod {{ $labels.namespace }}/{{ $labels.pod }} on node {{ $labels.node }} asks for GPUs and runs, and the exporter there names it on none of them. Its use is not seen.",
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
    summary: "Pods share GPUs of a node and can't be told apart.",
    description:
      "On node {{ $labels.node }} {{ $value }} GPUs are shared by pods, and the exporter does not say what each does: their pods have no activity and no alerts about waste. It needs dcgm-exporter 4.8.2 or later with --kubernetes-virtual-gpus.",
  },
];
