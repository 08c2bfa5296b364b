import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { anyOf, durationText, quote, relabel, select, withLabel } from "../promql.ts";
import { namesOf } from "../series/exporter-names.ts";
import { keysOf, listed } from "../series/keys.ts";
import { read } from "../series/read.ts";

/** XIDs of programs. If several workloads on one GPU have them, the cause is the GPU and not the programs. */
const REPEATED_CODES = [13, 31];

/**
 * Returns the rules for new XIDs. A code is new if the day before did not have it, on an exporter that has existed for half an
 * hour, so an installation or a rollout causes no flood of alerts. `gpu:xid_new:info` exists for one evaluation only,
 * with the pod that held the GPU at that time.
 */
export function xidRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, gpu } = keysOf(options);
  const exporter = [...gpu, "instance"];
  const onGpu = listed(gpu);
  const step = durationText(options.intervalMillis);
  const instance = `on (${cluster}, instance)`;
  const counted = read(options, "xid_errors", {
    by: [...exporter, "code"],
    matchers: ['xid!="0"', 'xid!=""'],
    where: "> 0",
    alsoGone: true,
    relabeled: (expr) => relabel(expr, "code", "xid"),
  });
  const latched = read(options, "xid_code", { by: exporter, where: "> 0", alsoGone: true });
  const steady = `(${steadyExporters(options)})`;
  const fresh = (series: string, source: string): string => {
    const dayBefore = `max_over_time(${series}[1d] offset ${step})`;
    const seen = `${series} unless on (${cluster}, UUID, code) ${dayBefore} and ${instance} ${steady}`;
    return withLabel(`group by (${gpu.join(", ")}, code) (${seen})`, "source", source);
  };
  const counts = `gpu:xid_counted:count${codes()}`;
  const before = `gpu:xid_counted:count offset ${step}`;
  const growing = `(${counts} > ${before} or ${counts} unless ${before}) and ${instance} ${steady}`;
  const repeated = `group by (${onGpu}, code) (gpu:xid_new:info${codes()} or gpu:xid_again:info)`;
  return [
    { record: "gpu:xid_counted:count", expr: counted },
    {
      // If an exporter counts XIDs, the latched code adds nothing.
      record: "gpu:xid_latched:info",
      expr: `count_values by (${exporter.join(", ")}) ("code", ${latched}) unless ${instance} ${counters(options)}`,
    },
    {
      record: "gpu:xid_appeared:info",
      expr: `${fresh("gpu:xid_counted:count", "counter")}\nor\n${fresh("gpu:xid_latched:info", "latch")}`,
    },
    { record: "gpu:xid_again:info", expr: `group by (${onGpu}, code) (${growing})` },
    { record: "gpu:xid_gpu_holder:info", expr: holdersOfEvents(options) },
    {
      record: "gpu:xid_new:info",
      expr: `gpu:xid_appeared:info * on (${onGpu}) group_left (namespace, pod) (
  ${soleHolder(options, "before")}
  or on (${onGpu})
  ${soleHolder(options, "now")}
  or on (${onGpu})
  ${soleHolder(options, "lately")}
)
or on (${onGpu}, code, source)
gpu:xid_appeared:info`,
    },
    {
      record: "gpu:xid_program_error:info",
      expr: `(${repeated}) * on (${onGpu}) group_left (namespace, workload) (
  max by (${onGpu}, namespace, workload) (
    ${soleHolder(options, "lately")} * on (${listed(keysOf(options).pod)}) group_left (workload) gpu:workload:info
  )
  or on (${onGpu})
  max by (${onGpu}, namespace, workload) (${relabel(soleHolder(options, "lately"), "workload", "pod")})
)`,
    },
  ];
}

function codes(): string {
  return `{${anyOf("code", REPEATED_CODES)}}`;
}

function counters({ selectors }: AlertOptions): string {
  return select(namesOf("xid_errors")[0]!.names[0]!, selectors.series);
}

/** The time at which the holder of a GPU with a new XID is looked up. */
type View = "before" | "now" | "lately";

/** The pods on GPUs with a new XID: the pods just before, now, and within 5 minutes. */
function holdersOfEvents(options: AlertOptions): string {
  const gpu = listed(keysOf(options).gpu);
  const held = "gpu:device_holder:info";
  const views: Readonly<Record<View, string>> = {
    before: `${held} offset ${durationText(options.intervalMillis)}`,
    now: held,
    lately: `last_over_time(${held}[5m])`,
  };
  const ofEvents = Object.entries(views).map(([view, holders]) => {
    const events = `on (${gpu}) (gpu:xid_appeared:info or gpu:xid_again:info)`;
    return withLabel(`group by (${gpu}, namespace, pod) (${holders} and ${events})`, "view", view);
  });
  return ofEvents.join("\nor\n");
}

/** The pod of each such GPU that only one pod holds. */
function soleHolder(options: AlertOptions, view: View): string {
  const gpu = listed(keysOf(options).gpu);
  const held = `gpu:xid_gpu_holder:info{view=${quote(view)}}`;
  return `(${held} and on (${gpu}) (count by (${gpu}) (${held}) == 1))`;
}

/** Exporters that these rules had half an hour ago and that have answered at least 90 % of the scrapes since. */
function steadyExporters({ selectors, clusterLabel }: AlertOptions): string {
  const up = select("up", selectors.exporters);
  const by = `${clusterLabel}, instance`;
  return `exporter:gpus:count offset 30m and on (${by}) avg by (${by}) (avg_over_time(${up}[30m])) >= 0.9 and on (${by}) (max by (${by}) (${up} offset 30m) == 1)`;
}
