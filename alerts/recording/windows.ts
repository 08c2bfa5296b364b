import { UNUSED_BELOW } from "../../domain/fleet/use.ts";
import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { paceMillis } from "../paces.ts";
import { durationText } from "../promql.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { state } from "../series/state.ts";
import { OWN_ACTIVITY, SHARED_ACTIVITY } from "./holders.ts";

const HOUR_SECONDS = 3600;
const SIX_HOURS_SECONDS = 6 * HOUR_SECONDS;
/** The part of a window that must have samples. A gap, a new series, or the time before a pod ran gives no result. */
const ENOUGH = 0.9;
/** The number of hours out of 6 that must have a mean. */
const ENOUGH_HOURS = 5;
/** The idle hours that a device needs in a day to count as idle on that day. Hours without samples count as work. */
const IDLE_HOURS = 22.8;
/** The activity below which a GPU does nothing. */
export const IDLE_RATIO = UNUSED_BELOW;
/** The time since when a pod has held its devices, in seconds. */
export const POD_AGE = "time() - pod:gpu_start:timestamp";
/** The longest gap after which the known start of a pod is still used. */
const REMEMBERED = "10m";
/** The number of evaluations for which the last known holder is used. */
const MISSED = 3;

/** The rules for the activity of the last hour, of devices and of the pods that hold them. */
export function hourRules(options: AlertOptions): readonly RecordingRule[] {
  const { device, pod } = keysOf(options);
  const byPod = listed(pod);
  const enough = enoughSamples(options.intervalMillis, HOUR_SECONDS * 1000);
  const idle = options.alerts["GPUAllocatedIdle"]?.parameters?.["threshold"] ?? IDLE_RATIO;
  const started = state(options, "kube_pod_start_time");
  return [
    {
      record: "gpu:device_activity:avg1h",
      expr: `avg_over_time(gpu:device_activity:ratio[1h])
and ${on(device)} (count_over_time(gpu:device_activity:ratio[1h]) >= ${enough})`,
    },
    {
      record: "pod:gpus_held:count",
      expr: `count by (${byPod}) (${ownDevices(options)} or present_over_time(${SHARED_ACTIVITY}[${lately(options)}]))`,
    },
    {
      // Kubernetes' time, or its last known value, or else the time of the pod's first sample.
      record: "pod:gpu_start:timestamp",
      expr: `max by (${byPod}) (${started} and ${on(pod)} pod:gpus_held:count)
or ${on(pod)}
last_over_time(pod:gpu_start:timestamp[${REMEMBERED}]) and ${on(pod)} pod:gpus_held:count
or ${on(pod)}
pod:gpus_held:count * 0 + time()`,
    },
    {
      // Of pods that have held all their devices for that long: a device has one pod until the pod ends.
      record: "pod:gpu_activity:max1h",
      expr: `max by (${byPod}) (
  ${ofDevices(options, (series) => `max_over_time(${series}[1h])`)}
)
unless ${on(pod)} (${ownDevices(options)} unless ${on(device)} gpu:device_activity:avg1h)
unless ${on(pod)} (count_over_time(${SHARED_ACTIVITY}[1h]) < ${enough})
and ${on(pod)} (${POD_AGE} >= ${ENOUGH * HOUR_SECONDS})`,
    },
    {
      record: "pod:gpu_activity:avg1h",
      expr: `avg by (${byPod}) (
  gpu:device_activity:avg1h * ${on(device)} group_right () ${ownDevices(options)}
  or
  avg_over_time(${SHARED_ACTIVITY}[1h])
)
and ${on(pod)} pod:gpu_activity:max1h`,
    },
    {
      // A pod that begins to work has means of the hour before, for which GPUAllocatedIdle has already fired.
      record: "pod:gpu_activity:resumed",
      expr: `pod:gpu_activity:max1h >= ${idle}\nand ${on(pod)} min_over_time(pod:gpu_activity:max1h[1h]) < ${idle}`,
    },
  ];
}

/** The rules over several hours. */
export function longRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, device, pod } = keysOf(options);
  const byPod = listed(pod);
  const enough = enoughSamples(options.intervalMillis, SIX_HOURS_SECONDS * 1000);
  const seen = `count_over_time(gpu:device_activity:avg1h[6h:1h]) >= ${ENOUGH_HOURS}`;
  const idle = `sum_over_time((1 - gpu:device_activity:avg1h)[1d:1h]) >= ${IDLE_HOURS}`;
  const ofTeams = (holders: string): string =>
    `count by (${cluster}, team) (${holders} * ${on(pod)} group_left (team) gpu:workload:info{team!=""})`;
  return [
    {
      record: "pod:gpu_activity:avg6h",
      expr: `avg by (${byPod}) (
  ${ofDevices(options, (series) => `avg_over_time(${series}[6h])`)}
)
unless ${on(pod)} (${ownDevices(options)} unless ${on(device)} (${seen}))
unless ${on(pod)} (count_over_time(${SHARED_ACTIVITY}[6h]) < ${enough})
and ${on(pod)} (${POD_AGE} >= ${ENOUGH * SIX_HOURS_SECONDS})`,
    },
    {
      record: "pod:gpu_activity:p95_6h",
      expr: `max by (${byPod}) (
  ${ofDevices(options, (series) => `quantile_over_time(0.95, ${series}[6h])`)}
)
and ${on(pod)} pod:gpu_activity:avg6h`,
    },
    { record: "team:gpus_held:count", expr: ofTeams("gpu:device_holder:info") },
    { record: "team:gpus_idle_day:count", expr: ofTeams(`(gpu:device_holder:info and ${on(device)} (${idle}))`) },
  ];
}

/** Returns a function over a range of the activity of each device of each pod. If the pod has the device for itself, its activity is the device's. */
export function ofDevices(options: AlertOptions, over: (series: string) => string): string {
  const { device } = keysOf(options);
  return `${over("gpu:device_activity:ratio")} * ${on(device)} group_right () ${ownDevices(options)}
  or
  ${over(SHARED_ACTIVITY)}`;
}

/** The devices that pods have for themselves, with the value 1. A single page without pod names does not remove them. */
export function ownDevices(options: AlertOptions): string {
  return `present_over_time(${OWN_ACTIVITY}[${lately(options)}])`;
}

/** The range in which the last known holder is used. */
function lately(options: AlertOptions): string {
  return durationText(MISSED * paceMillis(options, "minute"));
}

/** Returns the number of samples that is enough for a window of a series with the given interval. */
export function enoughSamples(everyMillis: number, windowMillis: number): number {
  return Math.floor((ENOUGH * windowMillis) / everyMillis);
}
