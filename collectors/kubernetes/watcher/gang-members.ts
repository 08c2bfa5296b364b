import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import { given } from "../projection/wire.ts";
import type { FactBody } from "./fact-registry.ts";
import { gangNames, type Relations } from "./relations.ts";

/** The pods of gangs. A gang can become known after its pods. */
export interface GangMembers {
  /** Adds a pod; does nothing if it belongs to no gang. */
  join(pod: FactBody<WorkloadFact>): void;
  /** Returns the UIDs of the pods that named a gang. */
  of(gang: FactBody<Extract<ClusterFact, { kind: "Gang" }>>): readonly string[];
  leave(uid: string): void;
}

/** Creates an empty set of gang members. */
export function createGangMembers(): GangMembers {
  const members = new Map<string, Set<string>>();
  const gangsOf = new Map<string, readonly string[]>();

  function leave(uid: string): void {
    for (const key of gangsOf.get(uid) ?? []) {
      const pods = members.get(key);
      pods?.delete(uid);
      if (pods?.size === 0) members.delete(key);
    }
    gangsOf.delete(uid);
  }

  return {
    leave,
    join({ uid, namespace, gang }) {
      leave(uid);
      if (gang === undefined) return;
      const keys = gangNames(gang).map((name) => keyOf(gang.kind, namespace, name));
      for (const key of keys) members.set(key, (members.get(key) ?? new Set()).add(uid));
      gangsOf.set(uid, keys);
    },
    of: ({ namespace, name, body }) => [...(members.get(keyOf(body.made, namespace, name)) ?? [])],
  };
}

function keyOf(made: string, namespace: string, name: string): string {
  return `${made}/${namespace}/${name}`;
}

/** Returns a pod's fact with the gang's data for fields that the pod does not have itself. */
export function withGang(pod: FactBody<WorkloadFact>, gangFacts: Relations["gangFacts"]): FactBody<WorkloadFact> {
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
