import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { anyOf, durationText, relabel, select, withLabel } from "../promql.ts";
import { namesOf } from "../series/exporter-names.ts";
import { keysOf } from "../series/keys.ts";
import { read } from "../series/read.ts";

/** Errors of programs that, under several workloads on one GPU, are no longer the programs'. */
const REPEATED_CODES = [13, 31];

/**
 * XIDs as they come. A code is new where the day before did not have it, on an exporter that has been there for half an
 * hour: so neither the day of installation nor a roll-out is a storm. `gpu:xid_new:info` stands for one evaluation alone,
 * with the pod that held the GPU just then.
 */
export function xidRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, gpu } = keysOf(options);
  const exporter = [...gpu, "instance"];
  const event = [...gpu, "code", "source"].join(", ");
  const step = durationText(options.intervalMillis);
  const instance = `on (${cluster}, instance)`;
  const counted = read(options, "xid_errors", {
    by: [...exporter, "code"],
    matchers: ['xid!="0"', 'xid!=""'],
    where: "> 0",
    alsoGone: true,
    relabelled: (expr) => relabel(expr, "code", "xid"),
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
  const repeated = `group by (${gpu.join(", ")}, code) (gpu:xid_new:info${codes()} or ${growing})`;
  const workload = `max by (${[...gpu, "namespace", "workload"].join(", ")}) (
  ${holderNow(options)}
  * on (${keysOf(options).pod.join(", ")}) group_left (workload) gpu:workload:info
)`;
  const podInstead = `max by (${[...gpu, "namespace", "workload"].join(", ")}) (${relabel(holderNow(options), "workload", "pod")})`;
  return [
    { record: "gpu:xid_counted:count", expr: counted },
    {
      // Where an exporter counts, the latch says nothing more.
      record: "gpu:xid_latched:info",
      expr: `count_values by (${exporter.join(", ")}) ("code", ${latched}) unless ${instance} ${counters(options)}`,
    },
    {
      record: "gpu:xid_appeared:info",
      expr: `${fresh("gpu:xid_counted:count", "counter")}\nor\n${fresh("gpu:xid_latched:info", "latch")}`,
    },
    {
      record: "gpu:xid_new:info",
      expr: `gpu:xid_appeared:info * on (${gpu.join(", ")}) group_left (namespace, pod) (
  ${soleHolder(options, `gpu:device_holder:info offset ${step}`)}
  or on (${gpu.join(", ")})
  ${soleHolder(options, "gpu:device_holder:info")}
  or on (${gpu.join(", ")})
  ${soleHolder(options, "last_over_time(gpu:device_holder:info[5m])")}
)
or on (${event})
gpu:xid_appeared:info`,
    },
    {
      record: "gpu:xid_program_error:info",
      expr: `(${repeated}) * on (${gpu.join(", ")}) group_left (namespace, workload) (
  ${workload}
  or on (${gpu.join(", ")})
  ${podInstead}
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

/** The pod of each GPU that one pod alone holds. */
function soleHolder(options: AlertOptions, holders: string): string {
  const { gpu } = keysOf(options);
  const by = [...gpu, "namespace", "pod"].join(", ");
  return `(
    group by (${by}) (${holders})
    and on (${gpu.join(", ")}) (count by (${gpu.join(", ")}) (group by (${by}) (${holders})) == 1)
  )`;
}

function holderNow(options: AlertOptions): string {
  return soleHolder(options, "last_over_time(gpu:device_holder:info[5m])");
}

/** Exporters that these rules knew half an hour ago and that have answered nine times of ten since. */
function steadyExporters({ selectors, clusterLabel }: AlertOptions): string {
  const up = select("up", selectors.exporters);
  const by = `${clusterLabel}, instance`;
  return `group by (${by}) (gpu:exporter_gpu:info offset 30m) and on (${by}) avg by (${by}) (avg_over_time(${up}[30m])) >= 0.9 and on (${by}) (max by (${by}) (${up} offset 30m) == 1)`;
}
