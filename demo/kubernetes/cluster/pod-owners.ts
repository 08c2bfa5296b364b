import { hashText, uuidOf } from "../../fleet/hash.ts";
import type { OwnerRef } from "../server/object.ts";
import type { PodLife } from "./lives.ts";

/** One of the owners above a pod, from the nearest to the top. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Sweeps run as JobSets; all other single trainings run as plain Jobs. */
const JOB_SETS = new Set(["dpo-sweep", "eval-suite"]);

/** Returns the owners of a pod of the fleet, never empty. */
export function ownersOf({ pod, node }: Pick<PodLife, "pod" | "node">): readonly [Owner, ...Owner[]] {
  const { kind, name, uid } = pod.workload;
  const madeUp = (what: string): string => uuidOf(hashText(node.seed, `${what}/${pod.namespace}/${name}`));
  switch (kind) {
    case "PyTorchJob":
      return [{ apiVersion: "kubeflow.org/v1", kind, name, uid }];
    case "Job": {
      const job = { apiVersion: "batch/v1", kind, name, uid };
      if (!JOB_SETS.has(pod.labels["app"] ?? "")) return [job];
      return [job, { apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet", name, uid: madeUp("jobset") }];
    }
    case "Deployment": {
      const replicaSet = pod.name.slice(0, pod.name.lastIndexOf("-"));
      const replicaSetUid = uuidOf(hashText(node.seed, `replicaset/${pod.namespace}/${replicaSet}`));
      return [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: replicaSet, uid: replicaSetUid },
        { apiVersion: "apps/v1", kind, name, uid },
      ];
    }
    case "LeaderWorkerSet": {
      const setOf = (set: string): Owner => ({
        apiVersion: "apps/v1",
        kind: "StatefulSet",
        name: set,
        uid: madeUp(`statefulset/${set}`),
      });
      const leader = { apiVersion: "v1", kind: "Pod", name: `${name}-0`, uid: pod.gang!.leader };
      const above = [setOf(name), { apiVersion: "leaderworkerset.x-k8s.io/v1", kind, name, uid }] as const;
      return pod.gang!.rank === 0 ? [...above] : [setOf(leader.name), leader, ...above];
    }
    case "StatefulSet":
      return [
        { apiVersion: "apps/v1", kind, name, uid },
        { apiVersion: "kubeflow.org/v1", kind: "Notebook", name, uid: madeUp("notebook") },
      ];
  }
}

/** Returns the reference to an owner from the object below it. */
export function referenceTo({ apiVersion, kind, name, uid }: Owner): OwnerRef {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Returns the labels that a workload's controller puts on its pods, and the annotations of its scheduler. */
export function marksOf(life: Pick<PodLife, "pod" | "node">): {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
} {
  const { pod } = life;
  const [owner, above] = ownersOf(life);
  const { name, kind } = pod.workload;
  if (kind === "LeaderWorkerSet")
    return {
      labels: {
        "leaderworkerset.sigs.k8s.io/name": name,
        "leaderworkerset.sigs.k8s.io/group-index": "0",
        "leaderworkerset.sigs.k8s.io/worker-index": String(pod.gang!.rank),
      },
      annotations: { "leaderworkerset.sigs.k8s.io/size": String(pod.gang!.size) },
    };
  switch (owner.kind) {
    case "PyTorchJob":
      return {
        labels: {
          "training.kubeflow.org/job-name": name,
          "training.kubeflow.org/operator-name": "pytorchjob-controller",
          "training.kubeflow.org/replica-type": "worker",
          "training.kubeflow.org/replica-index": String(pod.gang?.rank ?? 0),
          "volcano.sh/queue-name": pod.team,
        },
        annotations: { "scheduling.k8s.io/group-name": name },
      };
    case "Job":
      return {
        labels: {
          "batch.kubernetes.io/job-name": name,
          "batch.kubernetes.io/controller-uid": owner.uid,
          "kueue.x-k8s.io/podset": "main",
          ...(above === undefined ? {} : { "jobset.sigs.k8s.io/jobset-name": name }),
        },
        annotations: { "kueue.x-k8s.io/workload": workloadName(life) },
      };
    case "ReplicaSet":
      return { labels: { "pod-template-hash": owner.name.split("-").at(-1)! }, annotations: {} };
    default:
      return {
        labels: { "statefulset.kubernetes.io/pod-name": pod.name, "notebook-name": name, statefulset: name },
        annotations: {},
      };
  }
}

/** Returns the name of the Kueue Workload of a job. */
export function workloadName(life: Pick<PodLife, "pod" | "node">): string {
  const top = ownersOf(life).at(-1)!;
  return `${top.kind.toLowerCase()}-${top.name}-${top.uid.slice(0, 5)}`;
}
