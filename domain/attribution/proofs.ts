import type { Holding } from "../holding.ts";
import { askedInAll } from "./kind.ts";

/**
 * The devices that labels have proven on one node. One agreeing label proves a device for the pod's whole time, so that a scrape without
 * labels frees nothing. Labels that put a pod on more devices than it requests contradict each other and prove nothing. The order of the
 * samples makes no difference.
 */
export interface Proofs {
  /** Grows with every proof and every refutation. */
  readonly version: number;
  /** Records that a label put a pod on a device. */
  add(pod: Holding, device: string): void;
  /** Returns those of the pods that are proven on a device. */
  on(device: string, pods: readonly Holding[]): readonly Holding[];
  /** Returns the number of devices on which a pod is proven. */
  devices(pod: Holding): number;
  isContradicted(pod: Holding): boolean;
  /** Removes all pods except these. */
  keep(pods: readonly Holding[]): void;
}

/** Creates an empty set of proofs. */
export function createProofs(): Proofs {
  const devices = new Map<string, Set<string>>();
  let version = 0;
  const isContradicted = (pod: Holding): boolean => (devices.get(pod.uid)?.size ?? 0) > askedInAll(pod);

  return {
    get version() {
      return version;
    },
    add(pod, device) {
      const known = devices.get(pod.uid);
      // A contradicted pod needs no more devices.
      if (known?.has(device) === true || isContradicted(pod)) return;
      if (known === undefined) devices.set(pod.uid, new Set([device]));
      else known.add(device);
      version += 1;
    },
    on: (device, pods) => pods.filter((pod) => devices.get(pod.uid)?.has(device) === true && !isContradicted(pod)),
    devices: (pod) => (isContradicted(pod) ? 0 : (devices.get(pod.uid)?.size ?? 0)),
    isContradicted,
    keep(pods) {
      const kept = new Set(pods.map(({ uid }) => uid));
      for (const uid of devices.keys()) if (!kept.has(uid)) devices.delete(uid);
    },
  };
}
