import { fires, silent, type ExpectedAlert, type RuleCase } from "../case.ts";
import { dcgm, exporterUp, gpuLabels, gpuPlace, series, type RawGpu } from "../fleet.ts";

const ticket = { severity: "warning", notify: "ticket" } as const;
const activity = (values: string, of: RawGpu = {}) => dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", values, of);
const allocatable = (node: string, values: string) =>
  series("kube_node_status_allocatable", values, { node, resource: "nvidia_com_gpu", unit: "integer" });
const capacity = (node: string, values: string, resource = "nvidia_com_gpu") =>
  series("kube_node_status_capacity", values, { node, resource, unit: "integer" });

function ofNode(node: string, severity: "critical" | "warning" | "info", description: string): ExpectedAlert {
  const notify = { critical: "page", warning: "ticket", info: "none" }[severity];
  return { labels: { node, severity, notify }, annotations: { description } };
}

function ofGpu(description: string): ExpectedAlert {
  return {
    labels: { ...gpuLabels(), ...ticket },
    annotations: { description: `${gpuPlace()}${description}`, gpu: "0 (NVIDIA H100 80GB HBM3)", held_by: "" },
  };
}

const FROZEN = ofGpu(
  "The energy counter of the GPU has not changed for 15 minutes. The counter of a powered GPU always grows. All figures of this GPU may be old.",
);
const STUCK = ofGpu(
  "The GPU is busy for more than half of the time, but its profiling counters are 0. Tools that use only these counters show an idle GPU. gpu-ledger uses the utilization instead.",
);

const pod = { namespace: "ml", pod: "train-0" } as const;
/** The series of kube-state-metrics for a pod that runs on GPUs of node-1. */
const runningPod = (values: string) => [
  series("kube_pod_info", values, { ...pod, node: "node-1", uid: "u1" }),
  series("kube_pod_status_phase", values, { ...pod, phase: "Running", uid: "u1" }),
  series("kube_pod_container_resource_requests", values, {
    ...pod,
    node: "node-1",
    container: "main",
    resource: "nvidia_com_gpu",
    unit: "integer",
  }),
];
const UNNAMED: ExpectedAlert = {
  labels: { ...pod, node: "node-1", ...ticket },
  annotations: {
    description:
      "Pod ml/train-0 on node node-1 requests GPUs and runs, but the exporter of the node does not name the pod on any GPU. The use of the pod is not measured.",
  },
};

/** Alerts about missing or wrong telemetry of the fleet. */
export const TELEMETRY_CASES: readonly RuleCase[] = [
  {
    name: "GPUExporterDown fires five minutes after an exporter stopped answering, and ends when it has answered for two hours",
    input: [exporterUp("1x9 0x19 1x300"), exporterUp("1x330", { node: "node-2" })],
    expect: [
      ...silent("GPUExporterDown", "9m30s", "2h16m"),
      ...fires(
        "GPUExporterDown",
        {
          labels: {
            ...ticket,
            job: "dcgm-exporter",
            instance: "node-1:9400",
            namespace: "gpu-operator",
            pod: "dcgm-exporter-node-1",
          },
          annotations: {
            description:
              "Prometheus gets no page from the exporter at node-1:9400 (job dcgm-exporter). Its GPUs have no samples: no alert about them can fire, and their held time is charged as unobserved.",
          },
        },
        "10m",
        "2h13m",
      ),
    ],
  },
  {
    name: "GPUExporterDown has the node of the exporter's pod, or else that of the target, once with two kube-state-metrics",
    input: [
      exporterUp("0x20"),
      ...["a", "b"].map((instance) =>
        series("kube_pod_info", "1x20", {
          instance,
          namespace: "gpu-operator",
          pod: "dcgm-exporter-node-1",
          node: "gpu-1",
        }),
      ),
      // A pod without a node, which was never scheduled.
      series("kube_pod_info", "1x20", { namespace: "gpu-operator", pod: "dcgm-exporter-node-2" }),
      exporterUp("0x20", { node: "node-2", labels: { hostname: "gpu-2" } }),
    ],
    expect: fires(
      "GPUExporterDown",
      [["node-1", "gpu-1", {}] as const, ["node-2", "gpu-2", { hostname: "gpu-2" }] as const].map(
        ([name, node, more]) => ({
          labels: {
            ...ticket,
            ...more,
            node,
            job: "dcgm-exporter",
            instance: `${name}:9400`,
            namespace: "gpu-operator",
            pod: `dcgm-exporter-${name}`,
          },
          annotations: {
            description: `Node ${node}: Prometheus gets no page from the exporter at ${name}:9400 (job dcgm-exporter). Its GPUs have no samples: no alert about them can fire, and their held time is charged as unobserved.`,
          },
        }),
      ),
      "6m",
    ),
  },
  {
    name: "GPUNodeWithoutTelemetry fires a quarter of an hour after a node that offers GPUs went silent",
    input: [
      allocatable("node-1", "1x100"),
      activity("0.5x9 _x60 0.5x20"),
      allocatable("node-2", "8x100"),
      activity("0.5x100", { node: "node-2" }),
      allocatable("node-3", "0x100"),
    ],
    expect: [
      ...silent("GPUNodeWithoutTelemetry", "5m", "24m", "36m"),
      ...fires(
        "GPUNodeWithoutTelemetry",
        ofNode(
          "node-1",
          "warning",
          "Node node-1 offers 1 GPUs, or parts of them, to Kubernetes, but no exporter has series of this node.",
        ),
        "25m",
        "34m",
      ),
    ],
  },
  {
    name: "GPUNodeWithoutTelemetry knows the node of an old exporter that gives its own pod's name for it",
    input: [
      allocatable("node-1", "8x100"),
      activity("0.5x100", { labels: { Hostname: "dcgm-exporter-x7k2p" } }),
      series("kube_pod_info", "1x100", { namespace: "gpu-operator", pod: "dcgm-exporter-x7k2p", node: "node-1" }),
    ],
    expect: silent("GPUNodeWithoutTelemetry", "20m", "40m"),
  },
  {
    name: "GPUDisappeared fires ten minutes after a GPU was lost that the kubelet still counts, and ends when it is back",
    input: [capacity("node-1", "2x100"), activity("0.5x100"), activity("0.5x9 stale _x40 0.5x20", { gpu: 1 })],
    expect: [
      ...silent("GPUDisappeared", "5m", "14m30s", "26m"),
      ...fires(
        "GPUDisappeared",
        ofNode(
          "node-1",
          "critical",
          "1 GPUs of node node-1 have no series any more. They may have fallen off the bus. Programs on them have failed or hang.",
        ),
        "15m",
        "24m",
      ),
    ],
  },
  {
    name: "GPUDisappeared fires for a node whose exporter answers without a GPU, and not for a node whose exporter does not answer",
    input: ["node-1", "node-2"].flatMap((node) => [
      capacity(node, "2x200"),
      activity("0.5x29 stale", { node }),
      activity("0.5x29 stale", { node, gpu: 1 }),
      exporterUp(node === "node-1" ? "1x200" : "1x29 0x170", { node }),
    ]),
    expect: [
      ...silent("GPUDisappeared", "14m", "24m"),
      ...fires(
        "GPUDisappeared",
        ofNode(
          "node-1",
          "critical",
          "2 GPUs of node node-1 have no series any more. They may have fallen off the bus. Programs on them have failed or hang.",
        ),
        "26m",
        "1h",
      ),
    ],
  },
  {
    name: "GPUDisappeared fires for a node that lost one of two GPUs days ago; its count is not taken for replicas",
    every: "5m",
    evaluate: "5m",
    input: [capacity("node-1", "2x900"), activity("0.5x900"), activity("0.5x60 stale", { gpu: 1 })],
    expect: fires(
      "GPUDisappeared",
      ofNode(
        "node-1",
        "critical",
        "1 GPUs of node node-1 have no series any more. They may have fallen off the bus. Programs on them have failed or hang.",
      ),
      "40h",
      "70h",
    ),
  },
  {
    name: "GPUDisappeared believes the processor's inventory before the kubelet, and ends when the inventory changes",
    input: [
      capacity("node-1", "1x100"),
      series("gpu_node_inventory_gpus", "2x40 1x60", {
        node: "node-1",
        job: "gpu-ledger-processor",
        instance: "processor-0:8080",
      }),
      activity("0.5x100"),
    ],
    expect: [
      ...silent("GPUDisappeared", "9m30s", "32m"),
      ...fires(
        "GPUDisappeared",
        ofNode(
          "node-1",
          "critical",
          "1 GPUs of node node-1 have no series any more. They may have fallen off the bus. Programs on them have failed or hang.",
        ),
        "10m",
      ),
    ],
  },
  {
    name: "GPUDisappeared does not fire for time-sliced nodes, whose capacity counts replicas, and for complete MIG instances",
    input: [
      capacity("node-1", "8x100"),
      activity("0.5x100"),
      activity("0.5x100", { gpu: 1 }),
      capacity("node-2", "3x100"),
      ...["1", "2", "3"].map((instance) => activity("0.5x100", { node: "node-2", labels: { GPU_I_ID: instance } })),
    ],
    expect: silent("GPUDisappeared", "20m", "45m"),
  },
  ...(["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL"] as const).map(
    (name): RuleCase => ({
      name: `GPUTelemetryFrozen fires half an hour after ${name} stood still`,
      input: [
        dcgm("DCGM_FI_DEV_GPU_TEMP", "50x200"),
        dcgm(name, "1000+50x9 1500x79 1600+50x40"),
        dcgm("DCGM_FI_DEV_GPU_TEMP", "50x200", { node: "node-2" }),
        dcgm(name, "0x200", { node: "node-2" }),
      ],
      expect: [
        ...silent("GPUTelemetryFrozen", "19m30s", "34m30s", "46m"),
        ...fires("GPUTelemetryFrozen", FROZEN, "36m", "44m"),
      ],
    }),
  ),
  {
    name: "GPUTelemetryFrozen gives no verdict over a gap, after a restart, or of instances of which one moves",
    input: [
      dcgm("DCGM_FI_DEV_GPU_TEMP", "50x20 _x60 50x100"),
      dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "1000+50x20 _x60 3000+50x100"),
      dcgm("DCGM_FI_DEV_GPU_TEMP", "50x200", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "1000x200", { node: "node-2", labels: { GPU_I_ID: "1" } }),
      dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "1000+50x200", { node: "node-2", labels: { GPU_I_ID: "2" } }),
    ],
    expect: silent("GPUTelemetryFrozen", "30m", "40m", "55m", "1h20m"),
  },
  {
    name: "GPUProfilingCountersStuck fires where the counters stand at 0 and utilization averages over half",
    input: [
      activity("0.6x9 0x99 0.6x20"),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "51x200"),
      activity("0x200", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "50x200", { node: "node-2" }),
      activity("0.001x200", { node: "node-3" }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "99x200", { node: "node-3" }),
    ],
    expect: [
      ...silent("GPUProfilingCountersStuck", "19m30s", "34m30s"),
      ...fires("GPUProfilingCountersStuck", STUCK, "35m30s", "56m"),
    ],
  },
  {
    name: "GPUAttributionMissing fires half an hour after no series carried the name of a pod that runs on GPUs",
    input: [
      ...runningPod("1x200"),
      activity("0.5x9", { labels: pod }),
      activity("_x10 0.5x90"),
      activity("_x101 0.5x40", { labels: pod }),
    ],
    expect: [
      ...silent("GPUAttributionMissing", "4m", "34m30s", "51m30s"),
      ...fires("GPUAttributionMissing", UNNAMED, "40m30s", "49m"),
    ],
  },
  {
    name: "GPUAttributionMissing is silent about pods that do not run yet, and on nodes that are not seen at all",
    input: [
      series("kube_pod_info", "1x200", { ...pod, node: "node-1" }),
      series("kube_pod_status_phase", "1x200", { ...pod, phase: "Pending" }),
      series("kube_pod_status_phase", "0x200", { ...pod, phase: "Running" }),
      series("kube_pod_container_resource_requests", "1x200", { ...pod, node: "node-1", resource: "nvidia_com_gpu" }),
      activity("0.5x200"),
      series("kube_pod_info", "1x200", { namespace: "ml", pod: "other", node: "node-9" }),
      series("kube_pod_status_phase", "1x200", { namespace: "ml", pod: "other", phase: "Running" }),
      series("kube_pod_container_resource_requests", "1x200", {
        namespace: "ml",
        pod: "other",
        node: "node-9",
        resource: "nvidia_com_gpu",
      }),
    ],
    expect: silent("GPUAttributionMissing", "35m", "1h"),
  },
  {
    name: "GPUSharingUnmeasured fires after an hour for a node whose pods share GPUs without values of their processes",
    input: ["a", "b"].flatMap((name, index) => [
      activity("0.9x200", { labels: { namespace: "ml", pod: name, vgpu: String(index) } }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "90x200", { labels: { namespace: "ml", pod: name, vgpu: String(index) } }),
    ]),
    expect: [
      ...silent("GPUSharingUnmeasured", "59m30s"),
      ...fires(
        "GPUSharingUnmeasured",
        ofNode(
          "node-1",
          "info",
          "On node node-1 1 GPUs are shared by pods, and the exporter has no figures of each pod. These pods have no activity and no alerts about waste. Use dcgm-exporter 4.8.2 or later with --kubernetes-virtual-gpus.",
        ),
        "1h",
      ),
    ],
  },
  {
    name: "GPUSharingUnmeasured is silent where the exporter gives each pod's own utilization",
    input: [
      dcgm("DCGM_FI_DEV_GPU_UTIL", "90x200"),
      ...["a", "b"].map((name, index) =>
        dcgm("DCGM_FI_DEV_GPU_UTIL", "45x200", { labels: { namespace: "ml", pod: name, vgpu: String(index) } }),
      ),
    ],
    expect: silent("GPUSharingUnmeasured", "1h30m"),
  },
];
