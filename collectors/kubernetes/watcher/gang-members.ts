import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import { given } from "../projection/wire.ts";
import type { FactBody } from "./fact-book.ts";
import { gangNames, type Relations } from "./relations.ts";

/** The pods of gangs: a gang can become known after its pods. */
export interface GangMembers {
  /** Takes a pod; nothing where it is of no gang. */
  join(pod: FactBody<WorkloadFact>): void;
  /** The UIDs of the pods that have named a gang. */
  of(gang: FactBody<Extract<ClusterFact, { kind: "Gang" }>>): readonly string[];
  leave(uid: string): void;
}

/** Gangs without pods. */
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

/** A pod's fact with what its gang says, as far as the pod does not say it itself. */
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
