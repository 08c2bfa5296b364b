import { fires, silent, type ExpectedAlert, type InputSeries, type RuleCase } from "../../case.ts";
import { gpuLabels, gpuPlace, known, series, uuidOf } from "../../fleet.ts";

const TICKET = { severity: "warning", notify: "ticket" } as const;
const SHOWN = { severity: "info", notify: "none" } as const;
const ml = (pod: string) => ({ namespace: "ml", pod });
const ofPod = (record: string, pod: string, values: string): InputSeries => series(record, values, ml(pod));
/** A device on the pod's own node that the pod does not share. */
const activity = (pod: string, gpu: number, values: string, ofPod = "0.5x150"): readonly InputSeries[] => [
  series("gpu:device_activity:ratio", values, gpuLabels({ node: pod, gpu })),
  series("gpu:pod_activity:ratio", ofPod, { ...gpuLabels({ node: pod, gpu }), ...ml(pod) }),
];
/** One sample in six and a half minutes: the holder is known for half of that time. */
const NOW_AND_THEN = Array.from({ length: 12 }, () => "0.5x0 _x12").join(" ");
const LACKING_EVERY_SIXTH = Array.from({ length: 25 }, () => "0x4 _x1").join(" ");
/** The pod's share of a device that others use as well. */
const share = (pod: string, gpu: number, values: string): readonly InputSeries[] => [
  series("gpu:device_activity:ratio", "0.5x150", gpuLabels({ node: pod, gpu })),
  series("gpu:pod_activity:ratio", values, { ...gpuLabels({ node: pod, gpu }), ...ml(pod), shared: "true" }),
];
const alert = (pod: string, description: string, labels: Readonly<Record<string, string>> = {}): ExpectedAlert => ({
  labels: { ...ml(pod), ...TICKET, ...labels },
  annotations: { description, cost_per_hour: "" },
});
const hardlyUsed = (gpu: number, part: string): ExpectedAlert =>
  alert(
    `train-${gpu}`,
    `GPU ${uuidOf({ gpu })} of node node-1, held by pod ml/train-${gpu}, had an average activity of ${part} over the last hour, and the activity has been low for hours.`,
    { ...gpuLabels({ gpu }), ...SHOWN },
  );
const partiallyIdle = (pod: string): ExpectedAlert =>
  alert(
    pod,
    `1 GPUs of pod ml/${pod} are idle while another GPU of the pod works. The pod requests more than it uses, or a rank of the job is stuck.`,
  );

/** The savings of a team's cards of a kind, as a leader has them. */
const saving = (team: string, kind: string, values: string, instance = "processor-0:8080"): InputSeries =>
  series("gpu_ledger_advice_saving_per_month", values, { job: "gpu-ledger-processor", instance, team, kind });

/** Alerts about waste, each on the recorded series: just below and just above the threshold. */
export const WASTE_THRESHOLD_CASES: readonly RuleCase[] = [
  ...[
    {
      name: "GPUAllocatedIdle",
      way: TICKET,
      record: "pod:gpu_activity:max1h",
      low: 0.0095,
      edge: 0.01,
      age: 5400,
      last: "38m30s",
      over: "39m",
      description: "Pod ml/low has held its GPUs for more than an hour. None of them was active in the last hour.",
    },
    {
      name: "GPUPodLowUtilization",
      way: SHOWN,
      record: "pod:gpu_activity:avg1h",
      low: 0.395,
      edge: 0.4,
      age: 3600,
      last: "34m30s",
      over: "35m",
      description: "The GPUs of pod ml/low had an average activity of 39.5% over the last hour.",
    },
  ].map(({ name, way, record, low, edge, age, last, over, description }): RuleCase => ({
    name: `${name} fires ten minutes after ${record} is below ${edge} of a pod older than ${age} seconds, until ${last}`,
    input: [
      ofPod(record, "low", `${edge}x9 ${low}x59 ${edge}x20`),
      ofPod("pod:gpu_start:timestamp", "low", `${-age - 1}+30x100`),
      ofPod(record, "edge", `${edge}x100`),
      ofPod("pod:gpu_start:timestamp", "edge", `${-age - 1}+30x100`),
      ofPod(record, "young", `${low}x100`),
      ofPod("pod:gpu_start:timestamp", "young", `${-age}+30x100`),
    ],
    expect: [...silent(name, "14m30s", over), ...fires(name, alert("low", description, way), "15m", last)],
  })),
  {
    name: "LowGPUUtilization fires two hours after a device that a pod has for itself averaged below a fifth, and ends four minutes after the pod is gone",
    evaluate: "1m",
    input: [
      { average: "0.2x9 0.19x299 0.2x20", activity: "0.9x400" },
      { average: "0.2x9 0.1x400", activity: "0.9x279" },
      { average: "0.2x400", activity: "0.1x400" },
      { average: "0.1x400", activity: "0.1x400", share: { shared: "true" } },
    ].flatMap(({ average, activity, share = {} }, gpu) => [
      series("gpu:device_activity:avg1h", average, gpuLabels({ gpu })),
      series("gpu:pod_activity:ratio", activity, { ...gpuLabels({ gpu }), ...ml(`train-${gpu}`), ...share }),
    ]),
    expect: [
      ...silent("LowGPUUtilization", "2h4m", "2h39m"),
      ...fires("LowGPUUtilization", [hardlyUsed(0, "19%"), hardlyUsed(1, "10%")], "2h5m", "2h26m"),
      ...fires("LowGPUUtilization", hardlyUsed(0, "19%"), "2h27m", "2h38m"),
    ],
  },
  {
    name: "GPUSustainedLowUtilization fires after a day below 15 % on average and half in the 95th percentile, of pods that do something",
    evaluate: "5m",
    every: "5m",
    input: [
      { pod: "low", mean: 0.149, p95: 0.49, most: 0.01 },
      { pod: "mean", mean: 0.15, p95: 0.49, most: 0.01 },
      { pod: "p95", mean: 0.149, p95: 0.5, most: 0.01 },
      { pod: "idle", mean: 0.149, p95: 0.49, most: 0.0095 },
    ].flatMap(({ pod, mean, p95, most }) => [
      ofPod("pod:gpu_activity:avg6h", pod, `_x1 ${mean}x320`),
      ofPod("pod:gpu_activity:p95_6h", pod, `_x1 ${p95}x320`),
      ofPod("pod:gpu_activity:max1h", pod, `_x1 ${most}x320`),
    ]),
    expect: [
      ...silent("GPUSustainedLowUtilization", "24h"),
      ...fires(
        "GPUSustainedLowUtilization",
        alert(
          "low",
          "Over six hours the GPUs of pod ml/low had an average activity of 14.9% and were rarely more than half busy. A smaller GPU, a MIG instance or a share of a GPU may be enough.",
        ),
        "24h5m",
        "25h",
      ),
    ],
  },
  {
    name: "GPUPodPartiallyIdle fires when 27 samples of a quarter of an hour showed a GPU idle and another busy, for half an hour",
    input: [
      activity("stuck", 0, "0.301x150"),
      activity("stuck", 1, "0.0095x119 0.01x30"),
      share("shares", 0, "0.301x150"),
      share("shares", 1, "0.0095x119 0.01x30"),
      activity("edge", 0, "0.9x150"),
      activity("edge", 1, "0.01x150"),
      activity("slow", 0, "0.3x150"),
      activity("slow", 1, "0x150"),
      share("shares-slow", 0, "0.3x150"),
      share("shares-slow", 1, "0x150"),
      share("later", 0, "0.301x150"),
      share("later", 1, "0.5x15 0.0095x103 0.01x30"),
      activity("left", 0, "0.9x150"),
      activity("left", 1, "0x150", NOW_AND_THEN),
      activity("left-busy", 0, "0.9x150", NOW_AND_THEN),
      activity("left-busy", 1, "0x150"),
      // Five of six samples are not enough for a verdict, however many samples there are.
      activity("gaps", 0, "0.9x150"),
      activity("gaps", 1, LACKING_EVERY_SIXTH),
      share("shares-gaps", 0, "0.9x150"),
      share("shares-gaps", 1, LACKING_EVERY_SIXTH),
      activity("was-busy", 0, "0.9x39 0.25x110"),
      activity("was-busy", 1, "0x150"),
      share("shares-were-busy", 0, "0.9x39 0.25x110"),
      share("shares-were-busy", 1, "0x150"),
    ].flat(),
    expect: [
      ...silent("GPUPodPartiallyIdle", "42m30s", "1h"),
      ...fires("GPUPodPartiallyIdle", [partiallyIdle("shares"), partiallyIdle("stuck")], "43m", "52m30s"),
      ...fires("GPUPodPartiallyIdle", ["shares", "stuck", "later"].map(partiallyIdle), "53m", "59m"),
    ],
  },
  {
    name: "GPUMemoryHeldWithoutPod fires for nodes on which pods were known within a day",
    every: "1h",
    evaluate: "1h",
    input: [
      known({}, "1x40"),
      series("gpu:memory_used:ratio", "0.11x40", gpuLabels()),
      series("gpu:memory_used:ratio", "0.1x40", gpuLabels({ gpu: 1 })),
      series("node:gpus_held:count", "1x0 0x40", { node: "node-1" }),
    ],
    expect: [
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
        "1h",
        "24h",
      ),
      ...silent("GPUMemoryHeldWithoutPod", "25h"),
    ],
  },
  {
    name: "GPUNodeUnallocated fires at once when a node's GPUs are free in 324 samples of six hours",
    every: "1m",
    evaluate: "6h",
    input: [
      ...["node-1", "node-2", "node-3"].map((node) => series("node:gpus:count", "2x750", { node })),
      series("node:gpus_held:count", "1x359 0x360", { node: "node-1" }),
      series("node:gpus_held:count", "0x509 _x37 0x173", { node: "node-2" }),
      series("node:gpus_held:count", "0x509 _x38 0x172", { node: "node-3" }),
      series("gpu:device_holder:info", "1x750", { ...gpuLabels({ node: "node-9" }), ...ml("train-0") }),
    ],
    expect: fires(
      "GPUNodeUnallocated",
      ["node-1", "node-2"].map((node) => ({
        labels: { node, ...TICKET },
        annotations: {
          description: `No pod has held any of the 2 GPUs of node ${node} for hours. If no pod waits for GPUs, the node can be removed.`,
        },
      })),
      "12h",
    ),
  },
  {
    name: "TeamGPUIdleShareHigh fires six hours after over half of a team's GPUs were idle for a day, of four or more",
    every: "1h",
    evaluate: "1h",
    input: [
      { team: "vision", idle: 53, held: 100 },
      { team: "nlp", idle: 2, held: 4 },
      { team: "speech", idle: 3, held: 3 },
      { team: "robots", idle: 4, held: 4 },
    ].flatMap(({ team, idle, held }) => [
      series("team:gpus_idle_day:count", `_x1 ${idle}x40`, { team }),
      series("team:gpus_held:count", `_x1 ${held}x40`, { team }),
    ]),
    expect: [
      ...silent("TeamGPUIdleShareHigh", "6h"),
      ...fires(
        "TeamGPUIdleShareHigh",
        [
          { team: "vision", share: "53%" },
          { team: "robots", share: "100%" },
        ].map(({ team, share }) => ({
          labels: { team, ...TICKET },
          annotations: {
            description: `${share} of the GPUs that team ${team} holds had an average activity below 5 % over the last day.`,
            cost_per_hour: "",
          },
        })),
        "7h",
      ),
    ],
  },
  {
    name: "TeamAdviceSavingsHigh fires a day after a team's kinds of cards save over 1000 together, also with another leader",
    every: "5m",
    evaluate: "5m",
    input: [
      saving("vision", "idle-workload", "0x9 600x90", "processor-0:8080"),
      // Both leaders have the series for a moment, and then neither for ten minutes.
      saving("vision", "idle-workload", "_x95 600x2 _x1 600x310 0x40", "processor-1:8080"),
      saving("vision", "smaller-part", "0x9 401x400 0x40"),
      saving("nlp", "idle-workload", "500x450"),
      saving("nlp", "smaller-part", "500x450"),
      saving("nlp", "smaller-part", "500x450", "processor-1:8080"),
      // Without a value for 25 minutes, the day starts again.
      saving("robots", "empty-nodes", "0x9 2000x100 _x4 2000x200 0x140"),
    ],
    expect: [
      ...silent("TeamAdviceSavingsHigh", "24h45m", "36h"),
      ...fires(
        "TeamAdviceSavingsHigh",
        {
          labels: { team: "vision", ...TICKET },
          annotations: {
            description:
              "The advice of gpu-ledger has changes for team vision that would save more than the limit in a month. The page of the team lists the largest, and gpu-ledger advise lists all.",
            cost_per_hour: "",
          },
        },
        "24h50m",
        "33h",
      ),
    ],
  },
];
