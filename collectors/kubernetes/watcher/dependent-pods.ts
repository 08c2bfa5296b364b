import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import { given } from "../projection/wire.ts";
import type { FactBody } from "./fact-registry.ts";
import { gangNames, type Relations } from "./relations.ts";

/** The pods by the gang and the claims that they name, which can become known after their pods. */
export interface DependentPods {
  /** Adds a pod with its current gang and claims. */
  join(pod: FactBody<WorkloadFact>): void;
  /** Returns the UIDs of the pods that named an object. */
  of(object: FactBody<ClusterFact>): readonly string[];
  leave(uid: string): void;
}

/** Creates an empty set of pods. */
export function createDependentPods(): DependentPods {
  const podsOf = new Map<string, Set<string>>();
  const objectsOf = new Map<string, readonly string[]>();

  function leave(uid: string): void {
    for (const key of objectsOf.get(uid) ?? []) {
      const pods = podsOf.get(key);
      pods?.delete(uid);
      if (pods?.size === 0) podsOf.delete(key);
    }
    objectsOf.delete(uid);
  }

  return {
    leave,
    join({ uid, namespace, gang, asks }) {
      leave(uid);
      const gangs = gang === undefined ? [] : gangNames(gang).map((name) => keyOf(gang.kind, namespace, name));
      const claims = asks.flatMap((ask) => (ask.kind === "claim" ? keyOf("ResourceClaim", namespace, ask.claim) : []));
      const keys = [...gangs, ...claims];
      for (const key of keys) podsOf.set(key, (podsOf.get(key) ?? new Set()).add(uid));
      if (keys.length > 0) objectsOf.set(uid, keys);
    },
    of: ({ kind, namespace, name, body }) => [
      ...(podsOf.get(keyOf(kind === "Gang" ? body.made : kind, namespace, name)) ?? []),
    ],
  };
}

function keyOf(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

/**
 * Returns a pod's fact with the gang's data for fields that the pod does not have itself, and without claims that are now known to be for
 * other devices. Undefined if the pod then requests no GPU.
 */
export function withRelations(pod: FactBody<WorkloadFact>, relations: Relations): FactBody<WorkloadFact> | undefined {
  const asks = pod.asks.filter(
    (ask) => ask.kind !== "claim" || relations.isForGpus(pod.namespace, ask.claim) !== false,
  );
  if (asks.length === 0 && pod.asks.length > 0) return undefined;
  return { ...withGang(pod, relations.gangFacts), asks };
}

function withGang(pod: FactBody<WorkloadFact>, gangFacts: Relations["gangFacts"]): FactBody<WorkloadFact> {
  const { gang } = pod;
  const facts = gang === undefined ? undefined : gangFacts(gang, pod.namespace);
  if (gang === undefined || facts === undefined) return pod;
  const { queued, admitted, queue } = facts;
  return {
    ...pod,
    times: { ...given({ queued, admitted }), ...pod.times },
    ...given({ queue: pod.queue ?? queue }),
    gang: gang.size === 0 ? { ...gang, size: facts.size ?? 0 } : gang,
  };
}
