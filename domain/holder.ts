import type { Device } from "./device.ts";

/**
 * By which evidence a device is known to be held, the strongest first: what DRA allocated; the devices in the pod's status; what a
 * scheduler wrote on the pod; the group whose reservation pod has the GPU (KAI, Run:ai); the exporter's labels; a job where there is no
 * Kubernetes; the node alone, for pods of which nothing tells which of its devices they have.
 */
export type Evidence = "dra" | "status" | "annotation" | "group" | "label" | "hpc-job" | "node" | "none";

/** Who holds a device, as far as is known when a sample of it is joined. */
export interface Holder {
  readonly namespace: string;
  /** The pod, or the job where there is no Kubernetes. */
  readonly name: string;
  /** The pod's UID; empty where it is not known. */
  readonly uid: string;
  readonly evidence: Evidence;
  /**
   * How many pods the row stands for: 0 for nobody, 1 where a pod has the device or this row of it for itself. Of
   * several, namespace, name and UID are those of the first, by namespace, then name.
   */
  readonly holders: number;
}

/** Nobody is known to hold it. */
export const NO_HOLDER: Holder = { namespace: "", name: "", uid: "", evidence: "none", holders: 0 };

/** Whether the exporter's own labels name a pod. With honoured labels an idle GPU carries the exporter's: it holds none. */
export function namesPod(device: Device): device is Device & { readonly pod: string } {
  return device.pod !== undefined && !isExporter(device.pod);
}

/** The holder that the exporter's own labels name, for who knows nothing of pods. */
export function holderByLabels(device: Device): Holder {
  const { namespace = "", podUid: uid = "", hpcJob } = device;
  if (namesPod(device)) return { namespace, name: device.pod, uid, evidence: "label", holders: 1 };
  if (hpcJob !== undefined) return { ...NO_HOLDER, name: hpcJob, evidence: "hpc-job", holders: 1 };
  return NO_HOLDER;
}

/** Pods of dcgm-exporter, AMD's device-metrics-exporter and their like, by the name that their charts give them. */
function isExporter(pod: string): boolean {
  return /(^|-)(dcgm|metrics|gpu|nvidia|smi|xpum)-exporter(-|$)/.test(pod);
}
