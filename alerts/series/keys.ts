import type { AlertOptions } from "../options.ts";

/** The labels that tell apart what rules speak of. */
export interface Keys {
  readonly cluster: string;
  readonly node: readonly string[];
  readonly gpu: readonly string[];
  /** A GPU, or a MIG instance or partition of it. */
  readonly device: readonly string[];
  readonly pod: readonly string[];
  /** A GPU as its exporter's page has it. */
  readonly exporterGpu: readonly string[];
}

/** The keys, with the cluster's label as it is called here. */
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

/** Labels of a key as PromQL lists them. */
export function listed(labels: readonly string[]): string {
  return labels.join(", ");
}

/** `on (…)` of a key. */
export function on(labels: readonly string[]): string {
  return `on (${labels.join(", ")})`;
}
