import type { AlertOptions } from "../options.ts";
import { relabel, select } from "../promql.ts";
import { keysOf, on } from "./keys.ts";

/** Series that a processor gives for Prometheus to join with, and their labels. */
export const OWN_SERIES: Readonly<Record<string, readonly string[]>> = {
  gpu_workload_info: [
    "cluster",
    "namespace",
    "pod",
    "uid",
    "team",
    "cost_centre",
    "workload",
    "workload_type",
    "queue",
  ],
  gpu_workload_cost_per_hour: ["cluster", "namespace", "pod", "currency"],
  gpu_node_inventory_gpus: ["cluster", "node"],
};

/** The label by which processors name a cluster. */
const OWN_CLUSTER = "cluster";
/** A processor that went away is remembered for so long: another one takes its partitions over within it. */
const REMEMBERED = "[10m]";

/**
 * A series that our processors give of pods, of those that are known here: their labels wherever Prometheus put them, and as
 * long after a processor went away as another may need to take over. Processors name clusters; in a Prometheus that has no
 * such label, and where they name a single one, it is left out.
 */
export function ownPods(options: AlertOptions, name: string): string {
  const last = (matcher: string): string => `last_over_time(${select(name, matcher)}${REMEMBERED})`;
  const exported = relabel(relabel(last('exported_pod!=""'), "namespace", "exported_namespace"), "pod", "exported_pod");
  const series = ownCluster(options, `(${exported} or ${last('exported_pod=""')})`);
  const known = `(present_over_time(gpu:device_holder:info${REMEMBERED}) or pod:gpu_requests:count)`;
  return `(${series}\n  or\n  ${withoutCluster(options, series)})\n  and ${on(keysOf(options).pod)} ${known}`;
}

/** The same of nodes; of a Prometheus that names no cluster those that it knows. */
export function ownNodes(options: AlertOptions, name: string): string {
  const { cluster, node } = keysOf(options);
  const series = ownCluster(options, `last_over_time(${name}${REMEMBERED})`);
  return `${series}\n  or\n  ${withoutCluster(options, series)} and ${on(node)} node:gpus:count{${cluster}=""}`;
}

/** The cluster that a processor names, also where Prometheus has put one on its target. */
function ownCluster(options: AlertOptions, series: string): string {
  const { cluster } = keysOf(options);
  const own = relabel(series, OWN_CLUSTER, `exported_${OWN_CLUSTER}`);
  return cluster === OWN_CLUSTER ? own : relabel(own, cluster, OWN_CLUSTER);
}

/** Series without their cluster. Of several clusters nothing is taken: without the label two of their series could be one. */
function withoutCluster(options: AlertOptions, series: string): string {
  const { cluster } = keysOf(options);
  const clusters = `group by (${cluster}) (${ownCluster(options, `last_over_time(gpu_node_inventory_gpus${REMEMBERED})`)})`;
  return `label_replace((${series} and on () (count(${clusters}) == 1)), "${cluster}", "", "", "")`;
}
