import type { Run, SeriesRuns } from "./runs.ts";

/** A series of kube-state-metrics with its own labels: those that Prometheus added for the target are resolved. */
export interface Row {
  readonly metric: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly runs: readonly Run[];
}

/** Reads series as rows. */
export interface RowReader {
  read(series: SeriesRuns): Row;
}

const EXPORTED = "exported_";

/**
 * Metrics of kube-state-metrics 1.x with the resource in their name. Version 2 has only the metrics with the label `resource`
 * (https://github.com/kubernetes/kube-state-metrics/blob/release-1.9/docs/README.md). The metrics of NVIDIA's GPUs end with version 1.3.
 */
const RESOURCE_IN_NAME =
  /^(kube_(?:pod_(?:init_)?container_resource_(?:requests|limits)|node_status_(?:capacity|allocatable)))_(cpu_cores|memory_bytes|nvidia_gpu_devices|nvidia_gpu_cards)$/;
const RESOURCES: Readonly<Record<string, string>> = {
  cpu_cores: "cpu",
  memory_bytes: "memory",
  nvidia_gpu_devices: "nvidia_com_gpu",
  nvidia_gpu_cards: "nvidia_com_gpu",
};

/**
 * Creates a reader of rows. Without `honor_labels`, Prometheus renames a label of kube-state-metrics that the target has too, to
 * `exported_<name>` (https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config). The plain label is then the
 * target's. Prometheus drops empty labels: a pod without a node has no `exported_node`, and `node` is still the target's. The reader
 * therefore remembers the renamed labels.
 */
export function createRowReader(): RowReader {
  const renamed = new Set<string>();

  function ownLabels(labels: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    const exported = [...labels.keys()].filter((name) => name.startsWith(EXPORTED));
    if (exported.length === 0) return labels;
    for (const name of exported) renamed.add(name.slice(EXPORTED.length));
    const own = new Map<string, string>();
    for (const [name, value] of labels) {
      if (name.startsWith(EXPORTED)) own.set(name.slice(EXPORTED.length), value);
      else if (!renamed.has(name)) own.set(name, value);
    }
    return own;
  }

  return {
    read({ name, labels, runs }) {
      const own = ownLabels(labels);
      const [, metric, resource] = RESOURCE_IN_NAME.exec(name) ?? [];
      if (metric === undefined || resource === undefined) return { metric: name, labels: own, runs };
      return { metric, labels: new Map([...own, ["resource", RESOURCES[resource]!]]), runs };
    },
  };
}

/** Returns a label's value; empty if the row lacks it. Versions 1.x write `<none>` for an empty value. */
export function labelOf({ labels }: Pick<Row, "labels">, name: string): string {
  const value = labels.get(name) ?? "";
  return value === "<none>" ? "" : value;
}

/** Rows of one object by their metric. */
export type Rows = ReadonlyMap<string, readonly Row[]>;

/** Groups rows by an object. Rows without a key are left out. */
export function rowsByObject(
  rows: Iterable<Row>,
  keyOf: (row: Row) => string | undefined,
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
