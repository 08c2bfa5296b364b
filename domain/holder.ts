import type { Device } from "./device.ts";

/** By which evidence a device is known to be held, the strongest first. */
export type Evidence = "label" | "hpc-job" | "none";

/** Who holds a device, as far as one sample tells. */
export interface Holder {
  readonly namespace: string;
  /** The pod, or the job where there is no Kubernetes. */
  readonly name: string;
  readonly evidence: Evidence;
}

/** Nobody is known to hold it. */
export const NO_HOLDER: Holder = { namespace: "", name: "", evidence: "none" };

/**
 * The holder that the exporter's own labels name. With honoured labels an idle GPU carries the exporter's pod: an
 * exporter never holds a GPU.
 */
export function holderByLabels({ namespace, pod, hpcJob }: Device): Holder {
  if (pod !== undefined && !isExporter(pod)) return { namespace: namespace ?? "", name: pod, evidence: "label" };
  if (hpcJob !== undefined) return { namespace: "", name: hpcJob, evidence: "hpc-job" };
  return NO_HOLDER;
}

/** Pods of dcgm-exporter, AMD's device-metrics-exporter and their like, by the name that their charts give them. */
function isExporter(pod: string): boolean {
  return /(^|-)(dcgm|metrics|gpu|nvidia|smi|xpum)-exporter(-|$)/.test(pod);
}
