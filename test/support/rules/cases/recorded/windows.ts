import { records, type InputSeries, type RuleCase } from "../../case.ts";
import { gpuLabels, series } from "../../fleet.ts";

const ml = (pod: string) => ({ namespace: "ml", pod });
const activity = (pod: string, values: string, gpu = 0): InputSeries =>
  series("gpu:pod_activity:ratio", values, { ...gpuLabels({ gpu }), ...ml(pod) });
const device = (gpu: number, values: string): InputSeries =>
  series("gpu:device_activity:ratio", values, gpuLabels({ gpu }));

/** The last hour of two, of whose 121 samples 108 are there: 54 of one value and 54 of another. An hour before it was busier. */
const ENOUGH = "0.9x119 0.2x53 _x13 0.4x53";
const LACKING = "0.9x119 0.2x53 _x14 0.4x52";

/** What is recorded of hours and days, from what is recorded of devices and holders. */
export const WINDOW_CASES: readonly RuleCase[] = [
  {
    name: "an hour's largest and average activity need 108 of its samples, those of every GPU of the pod",
    evaluate: "2h",
    input: [
      activity("enough", ENOUGH),
      activity("lacking", LACKING, 1),
      activity("half", ENOUGH, 2),
      activity("half", LACKING, 3),
      device(0, ENOUGH),
      device(1, LACKING),
    ],
    expect: [
      ...records("pod:gpu_activity:max1h", [[ml("enough"), 0.4]], "2h"),
      ...records("pod:gpu_activity:avg1h", [[ml("enough"), 0.3]], "2h"),
      ...records("gpu:device_activity:avg1h", [[gpuLabels(), 0.3]], "2h"),
    ],
  },
  {
    name: "a pod is as old as its start says, else as it is seen within two hours, looked at every five minutes",
    evaluate: "10m",
    input: [
      activity("told", "0x400"),
      activity("untold", "0x400", 1),
      series("kube_pod_start_time", "600x400", ml("told")),
      series("kube_pod_start_time", "600x400", ml("without-gpus")),
    ],
    expect: [
      ...records(
        "pod:gpu_age:seconds",
        [
          [ml("told"), 3000],
          [ml("untold"), 3900],
        ],
        "1h",
      ),
      ...records(
        "pod:gpu_age:seconds",
        [
          [ml("told"), 10_200],
          [ml("untold"), 7500],
        ],
        "3h",
      ),
    ],
  },
  {
    name: "a pod has resumed its work for an hour after the last one in which it did nothing",
    every: "1m",
    evaluate: "1m",
    input: [
      { pod: "resumed", values: "0.0095x59 0.01x100" },
      { pod: "idle", values: "0.0095x160" },
      { pod: "busy", values: "0.5x160" },
    ].map(({ pod, values }) => series("pod:gpu_activity:max1h", values, ml(pod))),
    expect: [
      ...records("pod:gpu_activity:resumed", [], "59m", "2h"),
      ...records("pod:gpu_activity:resumed", [[ml("resumed"), 0.01]], "1h", "1h59m"),
    ],
  },
  {
    name: "a pod holds the GPUs on which it was active within a minute and a half",
    input: [activity("train-0", "0x9"), activity("train-0", "0x40", 1)],
    expect: [
      ...records("pod:gpus_held:count", [[ml("train-0"), 2]], "4m30s", "6m"),
      ...records("pod:gpus_held:count", [[ml("train-0"), 1]], "6m30s", "20m"),
    ],
  },
  {
    name: "six hours' average and 95th percentile need 66 of the 73 times at which five minutes end",
    every: "5m",
    evaluate: "12h",
    input: [
      // Seven and eight times of the last six hours lack, and five of the others are high.
      activity("enough", "0.9x71 0.1x29 stale _x6 0.1x30 0.8x4"),
      activity("lacking", "0.9x71 0.1x29 stale _x7 0.1x29 0.8x4", 1),
    ],
    expect: [
      ...records("pod:gpu_activity:avg6h", [[ml("enough"), (61 * 0.1 + 5 * 0.8) / 66]], "12h"),
      ...records("pod:gpu_activity:p95_6h", [[ml("enough"), 0.8]], "12h"),
    ],
  },
  {
    name: "a team's GPUs are those that its pods hold and that are seen, idle those that averaged under 5 % over 21 hours of a day",
    every: "1h",
    evaluate: "1h",
    input: [
      // Of the team's five GPUs one is idle, one just not, one busy, one lacks an hour, and one is not seen.
      ...["_x10 0.049x20", "_x10 0.05x20", "0.5x30", "_x11 0.01x19"].flatMap((values, gpu) => [
        series("gpu:device_activity:avg1h", values, gpuLabels({ gpu })),
        device(gpu, "0.5x30"),
      ]),
      ...[0, 1, 2, 3, 4].map((gpu) =>
        series("gpu:device_holder:info", "1x30", { ...gpuLabels({ gpu }), ...ml(`train-${gpu}`) }),
      ),
      ...[0, 1, 2, 3, 4].map((gpu) => series("gpu:workload:info", "1x30", { ...ml(`train-${gpu}`), team: "vision" })),
    ],
    expect: [
      ...records("team:gpus_idle_day:count", [], "29h"),
      ...records("team:gpus_idle_day:count", [[{ team: "vision" }, 1]], "30h"),
      ...records("team:gpus_held:count", [[{ team: "vision" }, 4]], "30h"),
    ],
  },
];
