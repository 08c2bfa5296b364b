import { records, type Expectation, type InputSeries, type RuleCase } from "../../case.ts";
import { gpuLabels, series } from "../../fleet.ts";

const ml = (pod: string) => ({ namespace: "ml", pod });
const activity = (pod: string, values: string, gpu = 0, labels: Readonly<Record<string, string>> = {}): InputSeries =>
  series("gpu:pod_activity:ratio", values, { ...gpuLabels({ gpu }), ...ml(pod), ...labels });
const shared = (pod: string, values: string, gpu: number): InputSeries =>
  activity(pod, values, gpu, { shared: "true" });
const device = (gpu: number, values: string): InputSeries =>
  series("gpu:device_activity:ratio", values, gpuLabels({ gpu }));
const hourly = (gpu: number, values: string): InputSeries =>
  series("gpu:device_activity:avg1h", values, gpuLabels({ gpu }));
const start = (pod: string, seconds: number): InputSeries => series("kube_pod_start_time", `${seconds}x1500`, ml(pod));

const startsAt = (starts: Readonly<Record<string, number>>, ...times: readonly string[]): readonly Expectation[] =>
  records(
    "pod:gpu_start:timestamp",
    Object.entries(starts).map(([pod, at]) => [ml(pod), at] as const),
    ...times,
  );

/** The last hour of two has 108 of 121 samples: 54 of one value and 54 of another. The hour before was busier. */
const ENOUGH = "0.9x119 0.2x53 _x13 0.4x53";
const LACKING = "0.9x119 0.2x53 _x14 0.4x52";
/** Six hours until two minutes past twelve: the last 37 of 721 samples are high, which is more than a twentieth. */
const SIX_HOURS = "0.9x723 0.1x683 0.8x36";

/** The recorded series of hours and days, from the recorded series of devices and holders. */
export const WINDOW_CASES: readonly RuleCase[] = [
  {
    name: "an hour's largest and average activity need 108 samples of every GPU of the pod, and a pod of 54 minutes",
    evaluate: "2h",
    input: [
      ...[ENOUGH, LACKING, ENOUGH, LACKING, ENOUGH].map((values, gpu) => device(gpu, values)),
      // The activity of the GPU before the pod had it is unknown here, and the pod's own samples do not count.
      ...["enough", "lacking", "half", "half", "young"].map((pod, gpu) => activity(pod, "_x236 0.5x10", gpu)),
      shared("share", ENOUGH, 5),
      shared("share-lacking", LACKING, 6),
      // A GPU that the pod held until four minutes ago no longer counts for it, whether it was busy or lacked samples.
      activity("enough", "_x226 0.5x6", 7),
      activity("enough", "_x226 0.5x6", 8),
      device(7, "0.9x250"),
      device(8, LACKING),
      ...["lacking", "half", "share", "share-lacking"].map((pod) => start(pod, 0)),
      start("enough", 7200 - 3240),
      start("young", 7200 - 3239),
    ],
    expect: [
      ...records(
        "pod:gpu_activity:max1h",
        [
          [ml("enough"), 0.4],
          [ml("share"), 0.4],
        ],
        "2h",
      ),
      ...records(
        "pod:gpu_activity:avg1h",
        [
          [ml("enough"), 0.3],
          [ml("share"), 0.3],
        ],
        "2h",
      ),
      ...records(
        "gpu:device_activity:avg1h",
        [...[0, 2, 4].map((gpu) => [gpuLabels({ gpu }), 0.3] as const), [gpuLabels({ gpu: 7 }), 0.9] as const],
        "2h",
      ),
    ],
  },
  {
    name: "the start of a pod is Kubernetes' time, else its last known time, else its first sample",
    evaluate: "5m",
    input: [
      activity("told", "0x1000"),
      activity("untold", "_x20 0x1000", 1),
      // kube-state-metrics has no values after the first hour. When it has values again, another pod of the same name has started.
      activity("forgotten", "0x1000", 2),
      start("told", 600),
      start("without-gpus", 600),
      series("kube_pod_start_time", "600x120 _x240 14400x600", ml("forgotten")),
      // A pod's start is forgotten when the pod ends.
      activity("ended", "0x120 _x59 0x400", 3),
    ],
    expect: [
      ...startsAt({ told: 600, untold: 600, forgotten: 600, ended: 0 }, "1h"),
      ...startsAt({ told: 600, untold: 600, forgotten: 600 }, "1h5m", "1h25m"),
      ...startsAt({ told: 600, untold: 600, forgotten: 600, ended: 5400 }, "1h35m", "2h55m"),
      ...startsAt({ told: 600, untold: 600, forgotten: 14_400, ended: 5400 }, "3h5m", "4h"),
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
    name: "a pod holds the GPUs on which it was active within three minutes, alone or with others",
    input: [
      activity("train-0", "0x9"),
      activity("train-0", "0x40", 1),
      shared("train-0", "0x40", 2),
      shared("train-0", "0x9", 3),
    ],
    expect: [
      ...records("pod:gpus_held:count", [[ml("train-0"), 4]], "4m30s", "7m30s"),
      ...records("pod:gpus_held:count", [[ml("train-0"), 2]], "8m", "20m"),
    ],
  },
  {
    name: "six hours' average and 95th percentile need five known hours of every GPU, and a pod of nine tenths of them",
    evaluate: "12h2m",
    input: [
      ...[0, 1, 2, 3].map((gpu) => device(gpu, SIX_HOURS)),
      // The hours that end at eight or later are known, and those that end at nine or later.
      ...["_x860 0.1x600", "_x980 0.1x600", "_x860 0.1x600", "_x860 0.1x600"].map((values, gpu) => hourly(gpu, values)),
      ...["enough", "half", "half", "young"].map((pod, gpu) => activity(pod, "_x1440 0.5x10", gpu)),
      shared("share", "0.9x723 _x73 0.1x610 0.8x36", 4),
      shared("share-lacking", "0.9x723 _x74 0.1x646", 5),
      activity("enough", "_x1430 0.5x6", 6),
      activity("enough", "_x1430 0.5x6", 7),
      device(6, "0.9x1450"),
      hourly(6, "0.9x1450"),
      device(7, "0.1x1450"),
      ...["half", "share", "share-lacking"].map((pod) => start(pod, 0)),
      start("enough", 43_320 - 19_440),
      start("young", 43_320 - 19_439),
    ],
    expect: [
      ...records(
        "pod:gpu_activity:avg6h",
        [
          [ml("enough"), (684 * 0.1 + 37 * 0.8) / 721],
          [ml("share"), (611 * 0.1 + 37 * 0.8) / 648],
        ],
        "12h2m",
      ),
      ...records(
        "pod:gpu_activity:p95_6h",
        [
          [ml("enough"), 0.8],
          [ml("share"), 0.8],
        ],
        "12h2m",
      ),
    ],
  },
  {
    name: "a team's GPUs are those that its pods hold, idle those that were seen to do nothing for 22.8 hours of a day",
    every: "30m",
    evaluate: "30h30m",
    input: [
      // A whole day that is just idle enough and one that is just not, a busy day, and 23 known hours that are just not and just idle enough.
      ...["0x57 0.2x1 1x9", "0.051x70", "0.5x70", "_x15 0.009x70", "_x15 0.008x70"].map((values, gpu) =>
        hourly(gpu, values),
      ),
      ...[0, 1, 2, 3, 4].flatMap((gpu) => [
        series("gpu:device_holder:info", "1x70", { ...gpuLabels({ gpu }), ...ml(`train-${gpu}`) }),
        series("gpu:workload:info", "1x70", { ...ml(`train-${gpu}`), team: "vision" }),
      ]),
    ],
    expect: [
      ...records("team:gpus_idle_day:count", [[{ team: "vision" }, 2]], "30h30m"),
      ...records("team:gpus_held:count", [[{ team: "vision" }, 5]], "30h30m"),
    ],
  },
];
