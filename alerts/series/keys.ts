import type { AlertOptions } from "../options.ts";

/** The labels that identify the subjects of rules. */
export interface Keys {
  readonly cluster: string;
  readonly node: readonly string[];
  readonly gpu: readonly string[];
  /** A GPU, or a MIG instance or partition of it. */
  readonly device: readonly string[];
  readonly pod: readonly string[];
  /** A GPU in its exporter's page. */
  readonly exporterGpu: readonly string[];
}

/** Returns the keys, with the configured label of the cluster. */
export function keysOf({ clusterLabel: cluster }: AlertOptions): Keys {
  const node = [cluster, "node"];
  const gpu = [...node, "UUID"];
  return {
    cluster,
    node,
    gpu,
    device: [...gpu, "GPU_I_ID"],
    pod: [cluster, "namespace", "pod"],
    exporterGpu: [cluster, "instance", "gpu"],
  };
}

/** Returns the labels of a key as a PromQL list. */
export function listed(labels: readonly string[]): string {
  return labels.join(", ");
}

/** Returns `on (…)` of a key. */
export function on(labels: readonly string[]): string {
  return `on (${labels.join(", ")})`;
}
