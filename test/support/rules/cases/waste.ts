import { fires, gives, silent, type ExpectedAlert, type InputSeries, type RuleCase } from "../case.ts";
import { dcgm, gpuLabels, gpuPlace, series, uuidOf, type RawGpu } from "../fleet.ts";

const TICKET = { severity: "warning", notify: "ticket" } as const;
const SHOWN = { severity: "info", notify: "none" } as const;
const POD = { namespace: "ml", pod: "train-0" } as const;
const OWNED = {
  ...POD,
  team: "vision",
  cost_centre: "CC-1",
  workload: "train",
  workload_type: "training",
  queue: "gpu",
} as const;

const activity = (values: string, pod: Readonly<Record<string, string>> = POD, of: RawGpu = {}): InputSeries =>
  dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", values, { ...of, labels: { ...of.labels, ...pod } });
const started = (values: string, pod: Readonly<Record<string, string>> = POD) =>
  series("kube_pod_start_time", values, pod);
const owner = (labels: Readonly<Record<string, string>> = OWNED) =>
  series("gpu_workload_info", "1x2000", {
    ...labels,
    uid: "u1",
    job: "gpu-ledger-processor",
    instance: "processor-0:8080",
  });
const cost = (value: number) =>
  series("gpu_workload_cost_per_hour", `${value}x2000`, {
    ...POD,
    currency: "USD",
    job: "gpu-ledger-processor",
    instance: "processor-0:8080",
  });

const IDLE = "Pod ml/train-0 has held its GPUs for more than an hour. None of them was active in the last hour.";
const ofPod = (
  description: string,
  labels: Readonly<Record<string, string>> = POD,
  costPerHour = "",
): ExpectedAlert => ({
  labels: { ...labels, ...TICKET },
  annotations: { description, cost_per_hour: costPerHour },
});
/** The same of an alert that is only shown. */
const shownOfPod = (description: string): ExpectedAlert => {
  const { labels, annotations } = ofPod(description);
  return { labels: { ...labels, ...SHOWN }, annotations };
};
const idle = (labels: Readonly<Record<string, string>> = POD, costPerHour = ""): ExpectedAlert =>
  ofPod(IDLE, labels, costPerHour);

/** GPUs that are held or exist, and are not used. */
export const WASTE_CASES: readonly RuleCase[] = [
  {
    name: "GPUAllocatedIdle fires once for a pod whose eight GPUs did nothing for an hour, with team and money, and ends four minutes after the pod works",
    input: [
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((gpu) => activity("0.005x239 0.5x40", POD, { gpu })),
      started("0x400"),
      owner(),
      cost(31.2),
    ],
    expect: [
      ...silent("GPUAllocatedIdle", "1h30m", "1h40m", "2h5m"),
      ...fires("GPUAllocatedIdle", idle(OWNED, "31.20 USD"), "1h40m30s", "2h3m"),
    ],
  },
  {
    name: "GPUAllocatedIdle is silent where one GPU of the pod works, and at exactly one per cent",
    input: [
      activity("0x400"),
      activity("0x100 0.011 0x100 0.011 0x400", POD, { gpu: 1 }),
      started("0x600"),
      activity("0.01x400", { namespace: "ml", pod: "edge" }, { gpu: 2 }),
      started("0x600", { namespace: "ml", pod: "edge" }),
    ],
    expect: silent("GPUAllocatedIdle", "1h41m", "2h30m"),
  },
  {
    name: "GPUAllocatedIdle gives no verdict from gaps: nine tenths of an hour's samples must be there",
    input: [
      activity("0x60 _x24 0x100"),
      activity("0x59 _x22 0x129", { namespace: "ml", pod: "enough" }, { gpu: 1 }),
      started("-10000x400"),
      started("-10000x400", { namespace: "ml", pod: "enough" }),
    ],
    expect: [
      ...silent("GPUAllocatedIdle", "1h"),
      ...gives("pod:gpu_activity:max1h", { 'pod:gpu_activity:max1h{namespace="ml", pod="enough"}': 0 }, "1h"),
    ],
  },
  {
    name: "GPUAllocatedIdle fires 1.5 h after the first sample of a pod without a start time",
    input: [activity("0x400")],
    expect: [...silent("GPUAllocatedIdle", "1h39m"), ...fires("GPUAllocatedIdle", idle(), "1h41m")],
  },
  {
    name: "GPUAllocatedIdle is silent about a young pod of an old name, and begins anew with it",
    input: [activity("0x600"), started("0x99 3000x600")],
    expect: [...silent("GPUAllocatedIdle", "1h39m", "2h29m30s"), ...fires("GPUAllocatedIdle", idle(), "2h30m30s")],
  },
  {
    name: "GPUAllocatedIdle leaves out pods and namespaces that opted out",
    input: [
      activity("0x400"),
      series("kube_pod_labels", "1x400", { ...POD, label_gpu_ledger_alerts: "off" }),
      activity("0x400", { namespace: "lab", pod: "nb-0" }, { gpu: 1 }),
      series("kube_namespace_labels", "1x400", { namespace: "lab", label_gpu_ledger_alerts: "off" }),
      activity("0x400", { namespace: "serve", pod: "chat-0" }, { gpu: 2 }),
      series("kube_pod_labels", "1x400", { namespace: "serve", pod: "chat-0", label_gpu_ledger_alerts: "on" }),
    ],
    expect: fires(
      "GPUAllocatedIdle",
      ofPod("Pod serve/chat-0 has held its GPUs for more than an hour. None of them was active in the last hour.", {
        namespace: "serve",
        pod: "chat-0",
      }),
      "1h45m",
    ),
  },
  {
    name: "a missing join loses no alert, and two processors with different owners break no alert",
    input: [
      activity("0x400"),
      ...["vision", "nlp"].map((team, index) =>
        series("gpu_workload_info", "1x2000", {
          namespace: "ml",
          pod: "twice",
          team,
          instance: `processor-${index}:8080`,
        }),
      ),
      activity("0.5x400", { namespace: "ml", pod: "twice" }, { gpu: 1 }),
    ],
    expect: [
      ...fires("GPUAllocatedIdle", idle(), "1h45m"),
      ...gives("count by (pod) (gpu:workload:info)", { '{pod="twice"}': 1 }, "1h45m"),
    ],
  },
  {
    name: "a ServiceMonitor's defaults move the labels of our own series, and a processor names a cluster that Prometheus does not",
    input: [
      activity("0x400"),
      ...["gpu_workload_info", "gpu_workload_cost_per_hour"].map((name) =>
        series(name, "3x2000", {
          namespace: "gpu-ledger",
          pod: "gpu-ledger-processor-0",
          exported_namespace: "ml",
          exported_pod: "train-0",
          cluster: "prod",
          ...(name === "gpu_workload_info" ? { team: "vision", workload: "train" } : { currency: "EUR" }),
        }),
      ),
      series("gpu_node_inventory_gpus", "1x2000", { cluster: "prod", node: "node-1" }),
    ],
    expect: fires("GPUAllocatedIdle", idle({ ...POD, team: "vision", workload: "train" }, "3.00 EUR"), "1h45m"),
  },
  {
    name: "a Prometheus that puts a cluster on every target, the name of one of ours even, moves no team to another cluster",
    input: ["eu", "us"].flatMap((cluster) => [
      activity("0x400", POD, { cluster }),
      series("gpu_workload_info", "1x2000", {
        cluster: "eu",
        namespace: "gpu-ledger",
        pod: "gpu-ledger-processor-0",
        exported_cluster: cluster,
        exported_namespace: "ml",
        exported_pod: "train-0",
        team: `team-${cluster}`,
      }),
      series("gpu_node_inventory_gpus", "1x2000", { cluster: "eu", exported_cluster: cluster, node: "node-1" }),
    ]),
    expect: fires(
      "GPUAllocatedIdle",
      ["eu", "us"].map((cluster) => ofPod(`Cluster ${cluster}: ${IDLE}`, { ...POD, cluster, team: `team-${cluster}` })),
      "1h45m",
    ),
  },
  {
    name: "two clusters with pods of one name each have their own team",
    input: ["eu", "us"].flatMap((cluster) => [
      activity("0x400", POD, { cluster }),
      series("gpu_workload_info", "1x2000", {
        ...POD,
        cluster,
        team: `team-${cluster}`,
        instance: "processor-0:8080",
      }),
      series("gpu_workload_cost_per_hour", `${cluster === "eu" ? 2 : 3}x2000`, {
        ...POD,
        cluster,
        currency: "USD",
        instance: "processor-0:8080",
      }),
    ]),
    expect: fires(
      "GPUAllocatedIdle",
      ["eu", "us"].map((cluster) =>
        ofPod(
          `Cluster ${cluster}: ${IDLE}`,
          { ...POD, cluster, team: `team-${cluster}` },
          cluster === "eu" ? "2.00 USD" : "3.00 USD",
        ),
      ),
      "1h45m",
    ),
  },
  {
    name: "without a processor team and workload come from kube-state-metrics: a pod's label, its namespace's, its controller",
    input: [
      ...["a", "b", "c"].map((pod, gpu) => activity("0x400", { namespace: "ml", pod }, { gpu })),
      ...["a", "b", "c"].map((pod) =>
        series("kube_pod_container_resource_requests", "1x400", {
          namespace: "ml",
          pod,
          node: "node-1",
          resource: "nvidia_com_gpu",
        }),
      ),
      series("kube_pod_labels", "1x400", {
        namespace: "ml",
        pod: "a",
        label_team: "vision",
        label_cost_center: "CC-1",
      }),
      series("kube_namespace_labels", "1x400", { namespace: "ml", label_team: "nlp" }),
      ...["a", "c"].map((pod) =>
        series("kube_pod_owner", "1x400", {
          namespace: "ml",
          pod,
          owner_kind: "Job",
          owner_name: `job-${pod}`,
          owner_is_controller: "true",
        }),
      ),
    ],
    expect: fires(
      "GPUAllocatedIdle",
      [
        { pod: "a", team: "vision", cost_centre: "CC-1", workload: "job-a", workload_type: "Job" },
        { pod: "b", team: "nlp" },
        { pod: "c", team: "nlp", workload: "job-c", workload_type: "Job" },
      ].map((labels) =>
        ofPod(
          `Pod ml/${labels.pod} has held its GPUs for more than an hour. None of them was active in the last hour.`,
          { namespace: "ml", ...(labels as Record<string, string>) },
        ),
      ),
      "1h45m",
    ),
  },
  {
    name: "LowGPUUtilization fires two hours after the hour's average fell below a fifth, on held GPUs alone",
    input: [
      activity("0.5x9 0.19x420 0.9x200"),
      owner(),
      cost(4),
      activity("0.2x600", { namespace: "ml", pod: "edge" }, { gpu: 1 }),
      dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x600", { gpu: 2 }),
    ],
    expect: [
      ...silent("LowGPUUtilization", "3h", "3h3m", "4h"),
      ...fires(
        "LowGPUUtilization",
        {
          labels: { ...OWNED, ...gpuLabels(), ...SHOWN },
          annotations: {
            description: `GPU ${uuidOf()} of node node-1, held by pod ml/train-0, had an average activity of 19% over the last hour, and the activity has been low for hours.`,
            cost_per_hour: "4.00 USD",
          },
        },
        "3h4m",
        "3h34m",
      ),
    ],
  },
  {
    name: "GPUPodLowUtilization fires where a pod that runs for more than an hour averages under 40 % over one",
    input: [
      activity("0.39x400", POD),
      activity("0.39x400", POD, { gpu: 1 }),
      started("0x400"),
      ...[0.2, 0.6].map((value, index) =>
        activity(`${value}x400`, { namespace: "ml", pod: "mixed" }, { node: "node-2", gpu: index }),
      ),
      started("0x400", { namespace: "ml", pod: "mixed" }),
    ],
    expect: [
      ...silent("GPUPodLowUtilization", "1h", "1h10m"),
      ...fires(
        "GPUPodLowUtilization",
        shownOfPod("The GPUs of pod ml/train-0 had an average activity of 39% over the last hour."),
        "1h10m30s",
        "2h",
      ),
    ],
  },
  {
    name: "of pods on a time-sliced GPU each counts by its own processes as a part of its share",
    input: [
      series("kube_node_status_capacity", "4x400", { node: "node-1", resource: "nvidia_com_gpu" }),
      dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.9x400"),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "52x400"),
      ...["a", "b", "c", "d"].flatMap((pod, index) => {
        const labels = { namespace: "ml", pod, vgpu: String(index) };
        return [
          dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.9x400", { labels }),
          dcgm("DCGM_FI_DEV_GPU_UTIL", `${[25, 24, 3, 0][index]!}x400`, { labels }),
        ];
      }),
    ],
    expect: [
      ...gives(
        "gpu:pod_activity:ratio",
        Object.fromEntries(
          [1, 0.96, 0.12, 0].map((value, index) => [
            `gpu:pod_activity:ratio{UUID="GPU-node-1-0", namespace="ml", node="node-1", pod="${"abcd"[index]}", shared="true"}`,
            value,
          ]),
        ),
        "30m",
      ),
      ...fires(
        "GPUAllocatedIdle",
        ofPod("Pod ml/d has held its GPUs for more than an hour. None of them was active in the last hour.", {
          namespace: "ml",
          pod: "d",
        }),
        "1h45m",
      ),
    ],
  },
  {
    name: "pods that share a GPU have no activity and no verdict where the exporter repeats the device's values on each",
    input: ["a", "b"].flatMap((pod) => [
      activity("0x400", { namespace: "ml", pod }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "0x400", { labels: { namespace: "ml", pod } }),
    ]),
    expect: [
      ...silent("GPUAllocatedIdle", "2h"),
      ...silent("GPUPodLowUtilization", "2h"),
      ...silent("LowGPUUtilization", "3h10m"),
      ...gives("gpu:pod_activity:ratio", {}, "1h"),
    ],
  },
  {
    name: "profiling counters that stay at 0 make no GPU idle, because utilization counts too",
    input: [activity("0x400"), dcgm("DCGM_FI_DEV_GPU_UTIL", "95x400", { labels: POD })],
    expect: silent("GPUAllocatedIdle", "2h"),
  },
  {
    name: "GPUPodLowUtilization and the average of GPUSustainedLowUtilization end with their pod, though their windows still look back on it",
    input: [activity("0.1x840 stale"), started("0x840 stale")],
    expect: [
      ...gives("pod:gpu_activity:avg6h", { 'pod:gpu_activity:avg6h{namespace="ml", pod="train-0"}': 0.1 }, "6h58m"),
      ...fires(
        "GPUPodLowUtilization",
        shownOfPod("The GPUs of pod ml/train-0 had an average activity of 10% over the last hour."),
        "6h58m",
      ),
      ...gives("pod:gpu_activity:avg6h", {}, "7h3m30s", "7h30m", "7h40m"),
      ...silent("GPUPodLowUtilization", "7h3m30s"),
    ],
  },
  {
    name: "a pod that works again after idle hours causes no alert: the means of the idle hours do not count for a further hour",
    input: [activity("0x600 0.97x240"), started("0x840")],
    expect: [
      ...fires("GPUAllocatedIdle", idle(), "4h59m"),
      ...["LowGPUUtilization", "GPUPodLowUtilization"].flatMap((alert) =>
        silent(alert, "5h5m", "5h15m", "5h40m", "6h5m", "6h30m"),
      ),
    ],
  },
  {
    name: "waste is seen through pages that lack the pods' names now and then",
    input: [
      activity(Array.from({ length: 12 }, () => "0.1x38 stale").join(" ")),
      dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", `_x39 ${Array.from({ length: 11 }, () => "0.1 stale _x38").join(" ")}`),
      started("0x480"),
    ],
    expect: [
      ...fires(
        "LowGPUUtilization",
        {
          labels: { ...POD, ...gpuLabels(), ...SHOWN },
          annotations: {
            description: `GPU ${uuidOf()} of node node-1, held by pod ml/train-0, had an average activity of 10% over the last hour, and the activity has been low for hours.`,
            cost_per_hour: "",
          },
        },
        "3h10m",
      ),
      ...fires(
        "GPUPodLowUtilization",
        shownOfPod("The GPUs of pod ml/train-0 had an average activity of 10% over the last hour."),
        "3h10m",
      ),
    ],
  },
  {
    name: "GPUSustainedLowUtilization fires after a day below half for nineteen samples of twenty and 15 % on average over six hours",
    evaluate: "5m",
    input: [
      ["low", "0.14x3720"],
      ["edge", "0.15x3720"],
      // A service that works in the day.
      ["day", "0.02x1440 0.5x1440 0.02x840"],
      // Half busy for one minute of ten: the average is low, but the 95th percentile is not.
      ["bursts", Array.from({ length: 186 }, () => "0.02x17 0.6x1").join(" ")],
      ["idle", "0.001x3720"],
      // Eight tenths of the samples are not enough for a verdict.
      ["gaps", "0.14x500 _x140 0.14x3080"],
    ].flatMap(([pod, values], gpu) => [
      series("gpu:device_activity:ratio", values!, { node: "node-1", UUID: `GPU-${gpu}` }),
      series("gpu:pod_activity:ratio", values!, { namespace: "ml", pod: pod!, node: "node-1", UUID: `GPU-${gpu}` }),
    ]),
    expect: [
      ...silent("GPUSustainedLowUtilization", "5h50m", "29h20m"),
      ...fires(
        "GPUSustainedLowUtilization",
        ofPod(
          "Over six hours the GPUs of pod ml/low had an average activity of 14% and were rarely more than half busy. A smaller GPU, a MIG instance or a share of a GPU may be enough.",
          { namespace: "ml", pod: "low" },
        ),
        "30h",
      ),
    ],
  },
  {
    name: "GPUPodPartiallyIdle fires half an hour after some GPUs of a pod stopped while another works",
    input: [
      activity("0.31x300"),
      activity("0.5x9 0.005x120 0.5x100", POD, { gpu: 1 }),
      activity("0.5x9 0.005x120 0.5x100", POD, { gpu: 2 }),
      ...[0.3, 0.005].map((value, gpu) =>
        activity(`${value}x300`, { namespace: "ml", pod: "slow" }, { node: "node-2", gpu }),
      ),
    ],
    expect: [
      ...silent("GPUPodPartiallyIdle", "49m", "1h7m"),
      ...fires(
        "GPUPodPartiallyIdle",
        ofPod(
          "2 GPUs of pod ml/train-0 are idle while another GPU of the pod works. The pod requests more than it uses, or a rank of the job is stuck.",
        ),
        "51m",
        "1h4m",
      ),
    ],
  },
  {
    name: "GPUMemoryHeldWithoutPod fires half an hour after memory stayed in use without a pod, where pods are mapped",
    input: [
      activity("0.5x20 stale", POD),
      dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "_x21 0x300"),
      dcgm("DCGM_FI_DEV_FB_USED", "11x129 1x100"),
      dcgm("DCGM_FI_DEV_FB_FREE", "89x300"),
      dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x300", { gpu: 1 }),
      dcgm("DCGM_FI_DEV_FB_USED", "10x300", { gpu: 1 }),
      dcgm("DCGM_FI_DEV_FB_FREE", "90x300", { gpu: 1 }),
      dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x300", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_FB_USED", "90x300", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_FB_FREE", "10x300", { node: "node-2" }),
    ],
    expect: [
      ...silent("GPUMemoryHeldWithoutPod", "10m", "40m", "1h6m"),
      ...fires(
        "GPUMemoryHeldWithoutPod",
        {
          labels: { ...gpuLabels(), ...TICKET },
          annotations: {
            description: `${gpuPlace()}11% of the GPU's memory is used, but no pod is known on the GPU. A process outlived its pod or runs outside Kubernetes. The next pod will lack this memory.`,
            gpu: "0 (NVIDIA H100 80GB HBM3)",
            held_by: "",
          },
        },
        "40m30s",
        "1h4m",
      ),
    ],
  },
  {
    name: "GPUNodeUnallocated fires when no GPU of a node was held for six hours, where pods are known at all",
    every: "1m",
    evaluate: "5m",
    input: [
      ...["node-1", "node-2", "node-3"].map((node) => series("node:gpus:count", "2x500", { node })),
      series("node:gpus:count", "2x500", { node: "node-4", cluster: "unmapped" }),
      series("node:gpus_held:count", "0x500", { node: "node-1" }),
      series("node:gpus_held:count", "0x500", { node: "node-4", cluster: "unmapped" }),
      series("node:gpus_held:count", "0x150 1 0x350", { node: "node-2" }),
      // Eight tenths of the samples are not enough for a verdict.
      series("node:gpus_held:count", "0x150 _x70 0x300", { node: "node-3" }),
      series("gpu:device_holder:info", "1x500", { node: "node-9", UUID: "GPU-9", ...POD }),
    ],
    expect: [
      ...silent("GPUNodeUnallocated", "5h20m"),
      ...fires(
        "GPUNodeUnallocated",
        {
          labels: { node: "node-1", ...TICKET },
          annotations: {
            description:
              "No pod has held any of the 2 GPUs of node node-1 for hours. If no pod waits for GPUs, the node can be removed.",
          },
        },
        "5h30m",
        "6h15m",
      ),
    ],
  },
  {
    name: "TeamGPUIdleShareHigh fires when over half of a team's four GPUs or more were idle over a day, for six hours",
    every: "5m",
    evaluate: "5m",
    input: [
      ...[
        { team: "vision", activities: [0, 0, 0.04, 0.5] },
        { team: "nlp", activities: [0, 0, 0.06, 0.5] },
        { team: "speech", activities: [0, 0, 0] },
      ].flatMap(({ team, activities }) =>
        activities.flatMap((value, gpu) => {
          const device = { node: `node-of-${team}`, UUID: `GPU-${team}-${gpu}` };
          const pod = { namespace: "ml", pod: `${team}-${gpu}` };
          return [
            series("gpu:device_activity:avg1h", `${value}x500`, device),
            series("gpu:device_activity:ratio", `${value}x500`, device),
            series("gpu:device_holder:info", "1x500", { ...device, ...pod }),
            series("gpu:workload:info", "1x500", { ...pod, team }),
          ];
        }),
      ),
      series("gpu_ledger_team_cost_per_hour", "12.5x500", { team: "vision", instance: "p-0" }),
    ],
    expect: [
      ...silent("TeamGPUIdleShareHigh", "20h", "28h55m"),
      ...fires(
        "TeamGPUIdleShareHigh",
        {
          labels: { team: "vision", ...TICKET },
          annotations: {
            description: "75% of the GPUs that team vision holds had an average activity below 5 % over the last day.",
            cost_per_hour: "12.50",
          },
        },
        "29h",
      ),
    ],
  },
];
