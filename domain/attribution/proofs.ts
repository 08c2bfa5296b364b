import type { Holding } from "../holding.ts";
import { askedInAll } from "./kind.ts";

/**
 * What labels have proven on one node: one agreeing label proves a device for the pod's whole time, so that a scrape
 * without labels frees nothing. Labels that put a pod on more devices than it asks for contradict each other, and prove
 * nothing. Which order samples come in makes no difference.
 */
export interface Proofs {
  /** Grows with everything that is proven or refuted. */
  readonly version: number;
  /** A label put a pod on a device. */
  add(pod: Holding, device: string): void;
  /** Those of the pods that are proven on a device. */
  on(device: string, pods: readonly Holding[]): readonly Holding[];
  /** On how many devices a pod is proven. */
  devices(pod: Holding): number;
  isContradicted(pod: Holding): boolean;
  /** Forgets all pods but these. */
  keep(pods: readonly Holding[]): void;
}

/** Nothing is proven yet. */
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
      // What is contradicted already needs no more devices to be so.
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
