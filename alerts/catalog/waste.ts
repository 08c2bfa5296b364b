import type { AlertOptions } from "../options.ts";
import { select } from "../promql.ts";
import { PACE_MILLIS, paceMillis } from "../paces.ts";
import { keysOf } from "../series/keys.ts";
import { enoughSamples, IDLE_RATIO, ofDevices, ownDevices, POD_AGE } from "../recording/windows.ts";
import { number, ratio, TEAMS_OF, type AlertDefinition } from "./definition.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const waste = { group: "waste", severity: "warning", notify: "ticket", everyMillis: PACE_MILLIS.twoMinutes } as const;
/** An hour of low use is normal for notebooks, and at night for services. It is shown, and nobody is notified. */
const shown = { ...waste, severity: "info", notify: "none" } as const;
/** The series of the savings by team and kind of card. The leader has it. */
const ADVICE_SAVING = "gpu_ledger_advice_saving_per_month";

/** An alert that suppresses others for its pod ends two evaluations after its condition, so that they end before it. */
const AFTER_THE_OTHERS = 2 * PACE_MILLIS.twoMinutes;

const long = { ...waste, everyMillis: PACE_MILLIS.fourMinutes } as const;

/** Alerts about GPUs that are held or free, and not used. For each pod the first suppresses the others. */
export const WASTE_ALERTS: readonly AlertDefinition[] = [
  {
    ...waste,
    name: "GPUAllocatedIdle",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods"],
    subject: "pod",
    forMillis: 10 * MINUTE_MILLIS,
    keepFiringForMillis: AFTER_THE_OTHERS,
    parameters: {
      threshold: ratio(IDLE_RATIO, "highest activity of an hour below which a GPU is idle"),
      ageMinutes: number(90, 60, 10_080, "minutes that a pod has to start its work"),
    },
    expr: (options, { threshold, ageMinutes }) =>
      wanted(
        options,
        `pod:gpu_activity:max1h < ${threshold}\nand ${onPod(options)} (${POD_AGE} > ${ageMinutes! * 60})`,
      ),
    summary: "A pod holds GPUs but does not use them.",
    description:
      "Pod {{ $labels.namespace }}/{{ $labels.pod }} has held its GPUs for more than an hour. None of them was active in the last hour.",
  },
  {
    ...shown,
    name: "LowGPUUtilization",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods"],
    subject: "pod",
    forMillis: 2 * HOUR_MILLIS,
    keepFiringForMillis: AFTER_THE_OTHERS,
    parameters: { threshold: ratio(0.2, "average activity over an hour") },
    expr: (options, { threshold }) => {
      const { device } = keysOf(options);
      return wanted(
        options,
        `(gpu:device_activity:avg1h < ${threshold})
* on (${device.join(", ")}) group_right () ${ownDevices(options)}
${unlessResumed(options)}`,
      );
    },
    summary: "A held GPU is hardly used.",
    description:
      "GPU {{ $labels.UUID }} of node {{ $labels.node }}, held by pod {{ $labels.namespace }}/{{ $labels.pod }}, had an average activity of {{ $value | humanizePercentage }} over the last hour, and the activity has been low for hours.",
  },
  {
    ...shown,
    name: "GPUPodLowUtilization",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods"],
    subject: "pod",
    forMillis: 10 * MINUTE_MILLIS,
    parameters: {
      threshold: ratio(0.4, "average activity over an hour"),
      ageMinutes: number(60, 60, 10_080, "minutes that a pod must have run"),
    },
    expr: (options, { threshold, ageMinutes }) =>
      wanted(
        options,
        `pod:gpu_activity:avg1h < ${threshold}\nand ${onPod(options)} (${POD_AGE} > ${ageMinutes! * 60})\n${unlessResumed(options)}`,
      ),
    summary: "A pod uses its GPUs little.",
    description:
      "The GPUs of pod {{ $labels.namespace }}/{{ $labels.pod }} had an average activity of {{ $value | humanizePercentage }} over the last hour.",
  },
  {
    ...long,
    name: "GPUSustainedLowUtilization",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods"],
    subject: "pod",
    // A service that is busy in the day needs its GPU, and notebooks end in the evening.
    forMillis: DAY_MILLIS,
    parameters: {
      p95: ratio(0.5, "95th percentile of the activity over 6 hours"),
      mean: ratio(0.15, "average activity over 6 hours"),
      idle: ratio(IDLE_RATIO, "activity below which a pod is idle: GPUAllocatedIdle fires for it instead"),
    },
    expr: (options, { p95, mean, idle }) =>
      wanted(
        options,
        `pod:gpu_activity:avg6h < ${mean}
and ${onPod(options)} pod:gpu_activity:p95_6h < ${p95}
unless ${onPod(options)} pod:gpu_activity:max1h < ${idle}
${unlessResumed(options)}`,
      ),
    summary: "A pod needs less than the GPUs that it holds.",
    description:
      "Over six hours the GPUs of pod {{ $labels.namespace }}/{{ $labels.pod }} had an average activity of {{ $value | humanizePercentage }} and were rarely more than half busy. A smaller GPU, a MIG instance or a share of a GPU may be enough.",
  },
  {
    ...waste,
    name: "GPUPodPartiallyIdle",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods"],
    subject: "pod",
    forMillis: 30 * MINUTE_MILLIS,
    parameters: {
      idle: ratio(IDLE_RATIO, "highest activity of 15 minutes below which a GPU is idle"),
      busy: ratio(0.3, "average activity of the GPU that works"),
    },
    expr: (options, { idle, busy }) => {
      const by = keysOf(options).pod.join(", ");
      const enough = enoughSamples(options.intervalMillis, 15 * MINUTE_MILLIS);
      const quiet = (series: string): string =>
        `(max_over_time(${series}[15m]) < ${idle} and count_over_time(${series}[15m]) >= ${enough})`;
      const working = (series: string): string => `(avg_over_time(${series}[15m]) > ${busy})`;
      return wanted(
        options,
        `count by (${by}) (
  ${ofDevices(options, quiet)}
)
and on (${by}) group by (${by}) (
  ${ofDevices(options, working)}
)`,
      );
    },
    summary: "Some of a pod's GPUs are idle while others work.",
    description:
      "{{ $value }} GPUs of pod {{ $labels.namespace }}/{{ $labels.pod }} are idle while another GPU of the pod works. The pod requests more than it uses, or a rank of the job is stuck.",
  },
  {
    ...waste,
    name: "GPUMemoryHeldWithoutPod",
    counters: [["fb_used_bytes"], ["fb_free_bytes"]],
    sources: ["pods"],
    subject: "gpu",
    forMillis: 30 * MINUTE_MILLIS,
    parameters: { threshold: ratio(0.1, "used part of the memory") },
    expr: (options, { threshold }) => {
      const { node, device } = keysOf(options);
      return `gpu:memory_used:ratio > ${threshold}
unless on (${device.join(", ")}) gpu:device_holder:info
and on (${node.join(", ")}) max_over_time(node:gpus_held:count[1d]) > 0`;
    },
    summary: "The memory of a GPU is used, but no pod holds the GPU.",
    description:
      "{{ $value | humanizePercentage }} of the GPU's memory is used, but no pod is known on the GPU. A process outlived its pod or runs outside Kubernetes. The next pod will lack this memory.",
  },
  {
    ...long,
    name: "GPUNodeUnallocated",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods"],
    subject: "node",
    forMillis: 0,
    parameters: { hours: number(6, 1, 168, "hours in which no GPU of the node was held") },
    expr: (options, { hours }) => {
      const { cluster, node } = keysOf(options);
      const on = `on (${node.join(", ")})`;
      const enough = enoughSamples(paceMillis(options, "minute"), hours! * HOUR_MILLIS);
      return `node:gpus:count
unless ${on} max_over_time(node:gpus_held:count[${hours}h]) > 0
and ${on} count_over_time(node:gpus_held:count[${hours}h]) >= ${enough}
and on (${cluster}) group by (${cluster}) (gpu:device_holder:info)`;
    },
    summary: "A node's GPUs are all free.",
    description:
      "No pod has held any of the {{ $value }} GPUs of node {{ $labels.node }} for hours. If no pod waits for GPUs, the node can be removed.",
  },
  {
    ...long,
    name: "TeamGPUIdleShareHigh",
    counters: [["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"]],
    sources: ["pods", "gpu-ledger"],
    subject: "team",
    forMillis: 6 * HOUR_MILLIS,
    parameters: {
      threshold: ratio(0.5, "part of the team's GPUs that were idle over a day"),
      gpus: number(4, 1, 100_000, "GPUs that a team must hold"),
    },
    expr: (options, { threshold, gpus }) => {
      const on = `on (${keysOf(options).cluster}, team)`;
      return `team:gpus_idle_day:count / ${on} team:gpus_held:count > ${threshold}
and ${on} team:gpus_held:count >= ${gpus}`;
    },
    summary: "Most of a team's GPUs were idle over a day.",
    description:
      "{{ $value | humanizePercentage }} of the GPUs that team {{ $labels.team }} holds had an average activity below 5 % over the last day.",
  },
  {
    ...long,
    name: "TeamAdviceSavingsHigh",
    sources: ["gpu-ledger"],
    subject: "team",
    teamSeries: ADVICE_SAVING,
    forMillis: DAY_MILLIS,
    parameters: {
      saving: number(
        1_000,
        1,
        1_000_000_000,
        "the team's saving per month of 730 h, in the currency of the price book",
      ),
    },
    // A new leader has the series after a minute. Until then the last values of the former leader count.
    expr: ({ selectors }, { saving }) => `sum by (team) (
  max by (team, kind) (max_over_time(${select(ADVICE_SAVING, selectors.ledger)}[${TEAMS_OF}]))
) > ${saving}`,
    summary: "A team could save much by the changes that gpu-ledger advises.",
    description:
      "The advice of gpu-ledger has changes for team {{ $labels.team }} that would save more than the limit in a month. The page of the team lists the largest, and gpu-ledger advise lists all.",
  },
];

/** Returns an expression without the pods that have opted out. */
function wanted(options: AlertOptions, expr: string): string {
  return `${expr}\nunless ${onPod(options)} pod:alerts_off:info`;
}

function unlessResumed(options: AlertOptions): string {
  return `unless ${onPod(options)} pod:gpu_activity:resumed`;
}

function onPod(options: AlertOptions): string {
  return `on (${keysOf(options).pod.join(", ")})`;
}
