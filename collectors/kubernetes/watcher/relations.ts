import type { ClusterFact, ClusterFactBodies } from "../../../domain/cluster-fact.ts";
import type { Gang } from "../../../domain/workload.ts";
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

/** The names that a gang's object can have: each group of a LeaderWorkerSet is a gang of its own, named after the set and its number. */
export function gangNames({ kind, name }: Pick<Gang, "kind" | "name">): readonly string[] {
  return kind === "LeaderWorkerSet" ? [name, name.replace(/-\d+$/, "")] : [name];
}

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
    gangFacts(gang, namespace) {
      const [own, object] = gangNames(gang).map((name) => gangs.get(gangKey(gang.kind, namespace, name)));
      return own ?? object;
    },
    isForGpus(namespace, claim) {
      const devices = claims.get(`${namespace}/${claim}`)?.devices;
      if (devices === undefined || devices.length === 0) return undefined;
      return devices.some(({ driver }) => gpuDrivers.has(driver) || GPU_DRIVER.test(driver));
    },
  };
}
