import type { Device } from "./device.ts";

/**
 * The evidence for the holder of a device, strongest first: the DRA allocation; the devices in the pod's status; a scheduler's annotation
 * on the pod; the group whose reservation pod has the GPU (KAI, Run:ai); the exporter's labels; a job, without Kubernetes; the node alone,
 * for pods without any evidence of which of its devices they have.
 */
export type Evidence = "dra" | "status" | "annotation" | "group" | "label" | "hpc-job" | "node" | "none";

/** The holder of a device, as known when a sample of the device is joined. */
export interface Holder {
  readonly namespace: string;
  /** The pod, or the job without Kubernetes. */
  readonly name: string;
  /** The pod's UID; empty if unknown. */
  readonly uid: string;
  readonly evidence: Evidence;
  /**
   * The number of pods that the row stands for: 0 for none, 1 if a pod has the device or this row of it alone. If there are several,
   * namespace, name and UID are those of the first, ordered by namespace, then name.
   */
  readonly holders: number;
}

/** The value for a device without a known holder. */
export const NO_HOLDER: Holder = { namespace: "", name: "", uid: "", evidence: "none", holders: 0 };

/**
 * Returns whether the exporter's labels name a holding pod. With honored labels, an idle GPU has the exporter's own pod, which holds
 * nothing.
 */
export function namesPod(device: Device): device is Device & { readonly pod: string } {
  return device.pod !== undefined && !isExporter(device.pod);
}

/** Returns the holder that the exporter's labels name, for use without facts of pods. */
export function holderByLabels(device: Device): Holder {
  const { namespace = "", podUid: uid = "", hpcJob } = device;
  if (namesPod(device)) return { namespace, name: device.pod, uid, evidence: "label", holders: 1 };
  if (hpcJob !== undefined) return { ...NO_HOLDER, name: hpcJob, evidence: "hpc-job", holders: 1 };
  return NO_HOLDER;
}

/**
 * Returns whether a pod belongs to an exporter (dcgm-exporter, AMD's device-metrics-exporter and similar), by the pod name that their
 * charts give.
 */
function isExporter(pod: string): boolean {
  return /(^|-)(dcgm|metrics|gpu|nvidia|smi|xpum)-exporter(-|$)/.test(pod);
}
