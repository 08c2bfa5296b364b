import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { durationText } from "../promql.ts";
import { keysOf } from "../series/keys.ts";
import { state } from "../series/state.ts";

const HOUR_MILLIS = 3_600_000;
/** A verdict needs so much of a window's samples: none comes from a gap or from a series that has just begun. */
const ENOUGH_SAMPLES = 0.9;
/** And a verdict on a day so many of its hours. */
const ENOUGH_HOURS = 21;
/** Whether six hours were seen is looked at in steps of five minutes, at both ends. */
const LOOKS_OF_SIX_HOURS = 73;
/** The activity below which a GPU does nothing. */
export const IDLE_RATIO = 0.01;
/** So many evaluations long a holder counts that was seen. */
const MISSED = 3;

/** What pods that hold devices, and these, did over the last hour. */
export function hourRules(options: AlertOptions): readonly RecordingRule[] {
  const { device, pod } = keysOf(options);
  const byPod = pod.join(", ");
  const enough = enoughSamples(options, HOUR_MILLIS);
  const idle = options.alerts["GPUAllocatedIdle"]?.parameters?.["threshold"] ?? IDLE_RATIO;
  return [
    {
      // A page that lacks its pods' names for once takes nothing away from them.
      record: "pod:gpus_held:count",
      expr: `count by (${byPod}) (last_over_time(gpu:pod_activity:ratio[${lately(options)}]))`,
    },
    {
      record: "pod:gpu_activity:max1h",
      expr: `max by (${byPod}) (max_over_time(gpu:pod_activity:ratio[1h]))
and on (${byPod}) (min by (${byPod}) (count_over_time(gpu:pod_activity:ratio[1h])) >= ${enough})
and on (${byPod}) pod:gpus_held:count`,
    },
    {
      record: "pod:gpu_activity:avg1h",
      expr: `avg by (${byPod}) (avg_over_time(gpu:pod_activity:ratio[1h]))\nand on (${byPod}) pod:gpu_activity:max1h`,
    },
    {
      // Who begins to work has means of the hour before, of which GPUAllocatedIdle has told already.
      record: "pod:gpu_activity:resumed",
      expr: `pod:gpu_activity:max1h >= ${idle}\nand on (${byPod}) min_over_time(pod:gpu_activity:max1h[1h]) < ${idle}`,
    },
    {
      record: "gpu:device_activity:avg1h",
      expr: `avg_over_time(gpu:device_activity:ratio[1h])
and on (${device.join(", ")}) (count_over_time(gpu:device_activity:ratio[1h]) >= ${enough})`,
    },
    {
      // Since Kubernetes says that it started; where nobody says, as long as its samples are seen, two hours at most.
      record: "pod:gpu_age:seconds",
      expr: `time() - max by (${byPod}) (${state(options, "kube_pod_start_time")} and on (${byPod}) pod:gpus_held:count)
or on (${byPod})
max by (${byPod}) (count_over_time(gpu:pod_activity:ratio[2h:5m])) * 300`,
    },
  ];
}

/** What takes hours to be seen. */
export function longRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, node, pod } = keysOf(options);
  const byPod = pod.join(", ");
  const enough = Math.ceil(ENOUGH_SAMPLES * LOOKS_OF_SIX_HOURS);
  const isObserved = `and on (${byPod}) (min by (${byPod}) (count_over_time(gpu:pod_activity:ratio[6h:5m])) >= ${enough})
and on (${byPod}) pod:gpus_held:count`;
  const team = `${cluster}, team`;
  const onHolder = `on (${[...node, "UUID", "GPU_I_ID"].join(", ")})`;
  const teamDevices = (devices: string): string =>
    `count by (${team}) ((gpu:device_holder:info and ${onHolder} ${devices}) * on (${byPod}) group_left (team) gpu:workload:info{team!=""})`;
  return [
    {
      record: "pod:gpu_activity:avg6h",
      expr: `avg by (${byPod}) (avg_over_time(gpu:pod_activity:ratio[6h]))\n${isObserved}`,
    },
    {
      record: "pod:gpu_activity:p95_6h",
      expr: `max by (${byPod}) (quantile_over_time(0.95, gpu:pod_activity:ratio[6h]))\nand on (${byPod}) pod:gpu_activity:avg6h`,
    },
    { record: "team:gpus_held:count", expr: teamDevices("gpu:device_activity:ratio") },
    {
      record: "team:gpus_idle_day:count",
      expr: teamDevices(
        `(avg_over_time(gpu:device_activity:avg1h[1d:1h]) < 0.05 and count_over_time(gpu:device_activity:avg1h[1d:1h]) >= ${ENOUGH_HOURS})`,
      ),
    },
  ];
}

/** The range in which a holder counts that was seen: one page without its name takes nothing away. */
export function lately({ intervalMillis }: AlertOptions): string {
  return durationText(MISSED * intervalMillis);
}

/** How many samples of a series of the quick group are enough for a window. */
export function enoughSamples({ intervalMillis }: AlertOptions, windowMillis: number): number {
  return Math.floor((ENOUGH_SAMPLES * windowMillis) / intervalMillis);
}
