import type { InputSeries } from "./case.ts";

/** A GPU as an exporter's page and Prometheus' target name it. */
export interface RawGpu {
  readonly node?: string;
  readonly gpu?: number;
  readonly model?: string;
  readonly cluster?: string;
  /** Labels beside those that every GPU has; an empty value takes one of them away. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The UUID of a GPU in tests: its node and number. */
export function uuidOf({ node = "node-1", gpu = 0 }: RawGpu = {}): string {
  return `GPU-${node}-${gpu}`;
}

/** A series of a GPU as dcgm-exporter 4.8 gives it and Prometheus keeps it with honoured labels. */
export function dcgm(name: string, values: string, of: RawGpu = {}): InputSeries {
  const { node = "node-1", gpu = 0, model = "NVIDIA H100 80GB HBM3", cluster, labels = {} } = of;
  return series(name, values, {
    ...(cluster === undefined ? {} : { cluster }),
    job: "dcgm-exporter",
    instance: `${node}:9400`,
    gpu: String(gpu),
    UUID: uuidOf(of),
    modelName: model,
    Hostname: node,
    ...labels,
  });
}

/** The target of a node's exporter. */
export function exporterUp(values: string, of: RawGpu = {}): InputSeries {
  const { node = "node-1", cluster } = of;
  return series("up", values, {
    ...(cluster === undefined ? {} : { cluster }),
    job: "dcgm-exporter",
    instance: `${node}:9400`,
    namespace: "gpu-operator",
    pod: `dcgm-exporter-${node}`,
  });
}

/** Any series. Labels that are empty are left out. */
export function series(name: string, values: string, labels: Readonly<Record<string, string>>): InputSeries {
  const list = Object.entries(labels).filter(([, value]) => value !== "");
  return { series: `${name}{${list.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",")}}`, values };
}

/** The labels by which an alert of a GPU is known. */
export function gpuLabels(of: RawGpu = {}): Record<string, string> {
  const { node = "node-1", cluster } = of;
  return { ...(cluster === undefined ? {} : { cluster }), node, UUID: uuidOf(of) };
}

/** How an alert's description begins for a GPU. */
export function gpuPlace(of: RawGpu = {}): string {
  const { node = "node-1", cluster } = of;
  return `GPU ${uuidOf(of)} of node ${node}${cluster === undefined ? "" : ` in cluster ${cluster}`}: `;
}
