import type { Device } from "../../../../domain/device.ts";
import { namesPod } from "../../../../domain/holder.ts";
import { holdsAt, type Holding } from "../../../../domain/holding.ts";
import { look, type Moment } from "../../../../domain/attribution/moment.ts";

/**
 * The meaning of a row's label. A stranger is a pod that is unknown at this time, because its facts are late or the cluster has no watcher.
 * "nobody" also stands for a misleading label.
 */
export type Label =
  | { readonly kind: "pod"; readonly pod: Holding }
  | { readonly kind: "stranger"; readonly namespace: string; readonly name: string; readonly uid: string }
  | { readonly kind: "nobody" };

const NOBODY: Label = { kind: "nobody" };

/**
 * Returns the pod that the exporter's labels name, if it holds on this node when the sample is taken. A label is misleading if its pod had
 * ended by then or holds on another node: exporters show finished pods for as long as they exist. A pod with this name that was bound later
 * is another pod.
 */
export function readLabel(device: Device, moment: Moment): Label {
  if (!namesPod(device)) return NOBODY;
  const { namespace = "", pod: name, podUid } = device;
  const stranger: Label = { kind: "stranger", namespace, name, uid: podUid ?? "" };
  if (podUid !== undefined) {
    const pod = moment.cluster.pod(podUid);
    const isHere = pod?.node === moment.name;
    if (!isHere) moment.beyond = true;
    if (pod === undefined) return stranger;
    if (!isHere || pod.until <= moment.millis) return NOBODY;
    return holdsAt(pod, moment.millis) ? { kind: "pod", pod } : stranger;
  }
  const namesakes = moment.cluster.named(namespace, name);
  const here = namesakes.filter(({ node }) => node === moment.name);
  const pod = here.find((one) => holdsAt(one, moment.millis));
  if (pod !== undefined) return { kind: "pod", pod };
  moment.beyond = true;
  for (const one of namesakes) look(moment, one);
  const wasHere = here.some(({ until }) => until <= moment.millis);
  const isElsewhere = namesakes.some((one) => one.node !== moment.name && holdsAt(one, moment.millis));
  return wasHere || isElsewhere ? NOBODY : stranger;
}
