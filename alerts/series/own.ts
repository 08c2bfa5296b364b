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
 * A series that our processors give of pods: their labels wherever Prometheus put them, and as long after a processor went
 * away as another may need to take over. Processors name clusters; in a Prometheus that has no such label, and where they
 * name a single one, it is left out.
 */
export function ownPods(options: AlertOptions, name: string, known: string): string {
  const last = (matcher: string): string => `last_over_time(${select(name, matcher)}${REMEMBERED})`;
  const exported = relabel(relabel(last('exported_pod!=""'), "namespace", "exported_namespace"), "pod", "exported_pod");
  const series = ownCluster(`(${exported} or ${last('exported_pod=""')})`);
  return withoutCluster(options, series, known, keysOf(options).pod);
}

/** The same of nodes. */
export function ownNodes(options: AlertOptions, name: string, known: string): string {
  return withoutCluster(options, ownCluster(`last_over_time(${name}${REMEMBERED})`), known, keysOf(options).node);
}

/** The cluster that a processor names, also where Prometheus has put one on its target. */
function ownCluster(series: string): string {
  return relabel(series, OWN_CLUSTER, `exported_${OWN_CLUSTER}`);
}

function withoutCluster(options: AlertOptions, series: string, known: string, key: readonly string[]): string {
  const { cluster } = keysOf(options);
  const named = (expr: string): string => (cluster === OWN_CLUSTER ? expr : relabel(expr, cluster, OWN_CLUSTER));
  const expr = named(series);
  // Of several clusters nothing is taken: without the label two of their series could be one.
  const clusters = `group by (${cluster}) (${named(ownCluster(`last_over_time(gpu_node_inventory_gpus${REMEMBERED})`))})`;
  const ofOne = `(${expr} and on () (count(${clusters}) == 1))`;
  return `${expr}
  or
  label_replace(${ofOne}, "${cluster}", "", "", "") and ${on(key)} ${known}`;
}
