import { named, type InputSeries } from "./case.ts";

/** A GPU as an exporter's page and a target of Prometheus name it. */
export interface RawGpu {
  readonly node?: string;
  readonly gpu?: number;
  readonly model?: string;
  readonly cluster?: string;
  /** Labels in addition to those that every GPU has; an empty value removes a label. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The UUID of a GPU in tests: its node and number. */
export function uuidOf({ node = "node-1", gpu = 0 }: RawGpu = {}): string {
  return `GPU-${node}-${gpu}`;
}

/** A series of a GPU as dcgm-exporter 4.8 serves it and Prometheus keeps it with honored labels. */
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
  const { node = "node-1", cluster, labels = {} } = of;
  return series("up", values, {
    ...(cluster === undefined ? {} : { cluster }),
    job: "dcgm-exporter",
    instance: `${node}:9400`,
    namespace: "gpu-operator",
    pod: `dcgm-exporter-${node}`,
    ...labels,
  });
}

/** A series of a GPU as AMD's exporter serves it. */
export function amd(name: string, values: string, of: RawGpu = {}): InputSeries {
  const { node = "node-1", gpu = 0, labels = {} } = of;
  return series(name, values, { instance: `${node}:9400`, gpu_id: String(gpu), ...labels });
}

/** A GPU in the form that all rules but the first ones read. Used where the exporter's names do not matter. */
export function known(of: RawGpu = {}, values = "1x400"): InputSeries {
  const { node = "node-1", gpu = 0, model = "NVIDIA H100 80GB HBM3" } = of;
  return series("gpu:exporter_gpu:info", values, {
    ...gpuLabels(of),
    instance: `${node}:9400`,
    gpu: String(gpu),
    modelName: model,
  });
}

/** Any series. Empty labels are left out. */
export function series(name: string, values: string, labels: Readonly<Record<string, string>>): InputSeries {
  return { series: named(name, labels), values };
}

/** The labels that identify the GPU of an alert. */
export function gpuLabels(of: RawGpu = {}): Record<string, string> {
  const { node = "node-1", cluster } = of;
  return { ...(cluster === undefined ? {} : { cluster }), node, UUID: uuidOf(of) };
}

/** The beginning of an alert's description for a GPU. */
export function gpuPlace(of: RawGpu = {}): string {
  const { node = "node-1", cluster } = of;
  return `GPU ${uuidOf(of)} of node ${node}${cluster === undefined ? "" : ` in cluster ${cluster}`}: `;
}
