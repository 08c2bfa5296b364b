import type { AlertOptions } from "../options.ts";
import { relabel, select } from "../promql.ts";
import { keysOf, on } from "./keys.ts";

/** The series of a processor for joins in Prometheus, and their labels. */
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

/** The label of processors with the name of a cluster. */
const OWN_CLUSTER = "cluster";
/** How long the series of a processor are used after it went away. Another processor takes over its partitions within this time. */
const REMEMBERED = "[10m]";

/**
 * Returns a series of our processors about pods that exist in this Prometheus. It finds their labels under both names, and it stays
 * after a processor went away until another can have taken over. Processors have clusters' names. If Prometheus has no
 * such label and the processors have only one cluster, the label is removed.
 */
export function ownPods(options: AlertOptions, name: string): string {
  const last = (matcher: string): string => `last_over_time(${select(name, matcher)}${REMEMBERED})`;
  const exported = relabel(relabel(last('exported_pod!=""'), "namespace", "exported_namespace"), "pod", "exported_pod");
  const series = ownCluster(options, `(${exported} or ${last('exported_pod=""')})`);
  const known = `(present_over_time(gpu:device_holder:info${REMEMBERED}) or pod:gpu_requests:count)`;
  return `(${series}\n  or\n  ${withoutCluster(options, series)})\n  and ${on(keysOf(options).pod)} ${known}`;
}

/** Returns the same for nodes. If Prometheus has no cluster label, only nodes that it has. */
export function ownNodes(options: AlertOptions, name: string): string {
  const { cluster, node } = keysOf(options);
  const series = ownCluster(options, `last_over_time(${name}${REMEMBERED})`);
  return `${series}\n  or\n  ${withoutCluster(options, series)} and ${on(node)} node:gpus:count{${cluster}=""}`;
}

/** Returns a series of the leading processor about inference services. */
export function ownServices(options: AlertOptions, name: string): string {
  const last = `last_over_time(${select(name, options.selectors.ledger)}${REMEMBERED})`;
  return ownCluster(options, relabel(last, "namespace", "exported_namespace"));
}

/** Returns the cluster of a processor's series, even if Prometheus has set its own cluster label on the target. */
function ownCluster(options: AlertOptions, series: string): string {
  const { cluster } = keysOf(options);
  const own = relabel(series, OWN_CLUSTER, `exported_${OWN_CLUSTER}`);
  return cluster === OWN_CLUSTER ? own : relabel(own, cluster, OWN_CLUSTER);
}

/** Returns series without their cluster label; nothing with several clusters, because two of their series could become one. */
function withoutCluster(options: AlertOptions, series: string): string {
  const { cluster } = keysOf(options);
  const clusters = `group by (${cluster}) (${ownCluster(options, `last_over_time(gpu_node_inventory_gpus${REMEMBERED})`)})`;
  return `label_replace((${series} and on () (count(${clusters}) == 1)), "${cluster}", "", "", "")`;
}
