import type { ClusterFactBodies } from "../../../../domain/cluster-fact.ts";
import { queueOf } from "../pod/gang.ts";
import type { JobSetObject, LeaderWorkerSetObject } from "../cluster-object.ts";
import type { KubeCondition, KubeObject } from "../kube-object.ts";
import { millisOf } from "../time.ts";
import { given, objects, text, texts, wholeNumber } from "../wire.ts";

/** Reads a JobSet. All pods of all its jobs are one gang. */
export function readJobSet(object: JobSetObject): ClusterFactBodies["Gang"] {
  const { spec, status } = object;
  const size = objects(spec?.replicatedJobs).reduce((sum, job) => {
    return sum + (wholeNumber(job.replicas) ?? 1) * (wholeNumber(job.template?.spec?.parallelism) ?? 1);
  }, 0);
  const phase = text(status?.terminalState) ?? (spec?.suspend === true ? "Suspended" : "Running");
  return { made: "JobSet", size, phase, ...common(object) };
}

/** Reads a LeaderWorkerSet. Each of its groups is a gang of this size. */
export function readLeaderWorkerSet(object: LeaderWorkerSetObject): ClusterFactBodies["Gang"] {
  const { spec, status } = object;
  const size = wholeNumber(spec?.leaderWorkerTemplate?.size) ?? 1;
  return {
    made: "LeaderWorkerSet",
    size,
    phase: isTrue(status?.conditions, "Available") ? "Available" : "Progressing",
    ...common(object),
  };
}

function common({ metadata }: KubeObject): { readonly queue?: string; readonly queued?: number } {
  return given({
    queue: queueOf([texts(metadata?.labels), texts(metadata?.annotations)]),
    queued: millisOf(metadata?.creationTimestamp),
  });
}

function isTrue(conditions: readonly KubeCondition[] | null | undefined, type: string): boolean {
  return objects(conditions).some((condition) => condition.type === type && condition.status === "True");
}
