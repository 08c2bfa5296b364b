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
/** A verdict needs so much of a window: none comes from a gap, from a series that has just begun, or of a pod before it ran. */
const ENOUGH = 0.9;
/** And of six hours so many whose mean is known. */
const ENOUGH_HOURS = 5;
/** A device was idle on a day of which it was seen to be for so many hours: what was not seen counts as work. */
const IDLE_HOURS = 22.8;
/** The activity below which a GPU does nothing. */
export const IDLE_RATIO = UNUSED_BELOW;
/** Since when a pod has held its devices, in seconds. */
export const POD_AGE = "time() - pod:gpu_start:timestamp";
/** What was known of a pod's start outlasts so long a gap. */
const REMEMBERED = "10m";
/** So many evaluations long a holder counts that was seen. */
const MISSED = 3;

/** What pods that hold devices, and these, did over the last hour. */
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
      // As Kubernetes says; where it says nothing now, what it said before; where it never did, when the pod was first seen.
      record: "pod:gpu_start:timestamp",
      expr: `max by (${byPod}) (${started} and ${on(pod)} pod:gpus_held:count)
or ${on(pod)}
last_over_time(pod:gpu_start:timestamp[${REMEMBERED}]) and ${on(pod)} pod:gpus_held:count
or ${on(pod)}
pod:gpus_held:count * 0 + time()`,
    },
    {
      // Of pods that have held all their devices for that long: a device has one pod as long as that lives.
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
      // Who begins to work has means of the hour before, of which GPUAllocatedIdle has told already.
      record: "pod:gpu_activity:resumed",
      expr: `pod:gpu_activity:max1h >= ${idle}\nand ${on(pod)} min_over_time(pod:gpu_activity:max1h[1h]) < ${idle}`,
    },
  ];
}

/** What takes hours to be seen. */
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

/** A function over a range of the activity of each device of each pod: of the device where the pod has it for itself. */
export function ofDevices(options: AlertOptions, over: (series: string) => string): string {
  const { device } = keysOf(options);
  return `${over("gpu:device_activity:ratio")} * ${on(device)} group_right () ${ownDevices(options)}
  or
  ${over(SHARED_ACTIVITY)}`;
}

/** The devices that pods have for themselves, with 1 as value. A page that lacks its pods' names for once takes nothing away. */
export function ownDevices(options: AlertOptions): string {
  return `present_over_time(${OWN_ACTIVITY}[${lately(options)}])`;
}

/** The range in which a holder counts that was seen. */
function lately(options: AlertOptions): string {
  return durationText(MISSED * paceMillis(options, "minute"));
}

/** How many samples are enough for a window of a series that has one so often. */
export function enoughSamples(everyMillis: number, windowMillis: number): number {
  return Math.floor((ENOUGH * windowMillis) / everyMillis);
}
