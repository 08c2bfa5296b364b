import type { ClusterFact, ClusterFactBodies } from "../../../domain/cluster-fact.ts";
import type { Gang } from "../../../domain/workload.ts";
import type { PodOptions } from "../projection/pod.ts";
import type { FactBody } from "./fact-registry.ts";

/** The data of other objects that pods' facts need: gangs and claims. */
export interface Relations {
  take(fact: FactBody<ClusterFact>): void;
  drop(fact: FactBody<ClusterFact>): void;
  readonly gangFacts: NonNullable<PodOptions["gangFacts"]>;
  readonly isForGpus: NonNullable<PodOptions["isForGpus"]>;
}

/** DRA drivers whose devices are GPUs, in addition to those with GPUs in their slices. */
const GPU_DRIVER = /(^|\.)gpu\./;

/**
 * Returns the names that a gang's object can have. Each group of a LeaderWorkerSet is a separate gang, named after the set and its number.
 */
export function gangNames({ kind, name }: Pick<Gang, "kind" | "name">): readonly string[] {
  return kind === "LeaderWorkerSet" ? [name, name.replace(/-\d+$/, "")] : [name];
}

/** Creates an empty set of relations. */
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
      const { devices, isMonitor } = claims.get(`${namespace}/${claim}`) ?? {};
      if (isMonitor === true) return false;
      if (devices === undefined || devices.length === 0) return undefined;
      return devices.some(({ driver }) => gpuDrivers.has(driver) || GPU_DRIVER.test(driver));
    },
  };
}
