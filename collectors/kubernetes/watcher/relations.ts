import type { ClusterFact, ClusterFactBodies } from "../../../domain/cluster-fact.ts";
import type { PodOptions } from "../projection/pod.ts";
import type { FactBody } from "./fact-book.ts";

/** What pods' facts draw from other objects: gangs and claims. */
export interface Relations {
  take(fact: FactBody<ClusterFact>): void;
  drop(fact: FactBody<ClusterFact>): void;
  readonly gangFacts: NonNullable<PodOptions["gangFacts"]>;
  readonly isForGpus: NonNullable<PodOptions["isForGpus"]>;
}

/** Drivers of DRA whose devices are GPUs, beside those that say so in their slices. */
const GPU_DRIVER = /(^|\.)gpu\./;

/** Nothing is known yet. */
export function createRelations(): Relations {
  const gangs = new Map<string, ClusterFactBodies["Gang"]>();
  const claims = new Map<string, ClusterFactBodies["ResourceClaim"]>();
  const gpuDrivers = new Set<string>();
  const gangKey = (made: string, namespace: string, name: string): string => `${made}/${namespace}/${name}`;

  return {
    take({ kind, namespace, name, body }) {
      if (kind === "Gang") gangs.set(gangKey(body.made, namespace, name), body);
      else if (kind === "ResourceClaim") claims.set(`${namespace}/${name}`, body);
      else if (kind === "ResourceSlice" && body.devices.length > 0) gpuDrivers.add(body.driver);
    },
    drop({ kind, namespace, name, body }) {
      if (kind === "Gang") gangs.delete(gangKey(body.made, namespace, name));
      else if (kind === "ResourceClaim") claims.delete(`${namespace}/${name}`);
    },
    gangFacts({ kind, name }, namespace) {
      // Each group of a LeaderWorkerSet is a gang of its own, named after the set and its number.
      const object = kind === "LeaderWorkerSet" ? name.replace(/-\d+$/, "") : name;
      return gangs.get(gangKey(kind, namespace, name)) ?? gangs.get(gangKey(kind, namespace, object));
    },
    isForGpus(namespace, claim) {
      const devices = claims.get(`${namespace}/${claim}`)?.devices;
      if (devices === undefined || devices.length === 0) return undefined;
      return devices.some(({ driver }) => gpuDrivers.has(driver) || GPU_DRIVER.test(driver));
    },
  };
}
