import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { FactOrigin } from "../../../domain/fact.ts";
import { groupOf } from "../owners/kinds.ts";
import { readBudget } from "./cluster/budget.ts";
import { readClaim, readSlice, readTaintRule } from "./cluster/dra.ts";
import { readClusterQueue, readKueueWorkload, readLocalQueue } from "./cluster/kueue.ts";
import { readLimitRange, readNamespace, readPriorityClass, readQuota } from "./cluster/namespace.ts";
import {
  readKaiQueue,
  readNativePodGroup,
  readNativeWorkload,
  readPodGang,
  readPodGroup,
  readVolcanoQueue,
} from "./cluster/schedulers.ts";
import { readJobSet, readLeaderWorkerSet } from "./cluster/sets.ts";
import { readTrainJob } from "./cluster/train-job.ts";
import type { KubeObject } from "./kube-object.ts";
import type { Remark, Remarks } from "./remark.ts";
import { text } from "./wire.ts";

type WithoutOrigin<Fact> = Fact extends ClusterFact ? Omit<Fact, keyof FactOrigin | "resource" | "end"> : never;
type Said = {
  [Kind in ClusterFact["kind"]]: Pick<Extract<ClusterFact, { kind: Kind }>, "kind" | "body">;
}[ClusterFact["kind"]];

/** A cluster fact without its origin, resource and end, which the watcher adds, and the remarks on the object. */
export interface ClusterProjection {
  readonly fact: WithoutOrigin<ClusterFact>;
  readonly remarks: readonly Remark[];
}

type Reader = (
  object: KubeObject,
  remarks: Remarks,
  namespaceAnnotations: readonly string[] | undefined,
) => Said | undefined;

/** The readers of the kinds with a fact, by group and kind. Every version of a group is read in the same way. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["/Namespace", (object, _, names) => ({ kind: "Namespace", body: readNamespace(object, names) })],
  ["/ResourceQuota", (object, remarks) => ({ kind: "ResourceQuota", body: readQuota(object, remarks) })],
  ["/LimitRange", (object, remarks) => ({ kind: "LimitRange", body: readLimitRange(object, remarks) })],
  ["scheduling.k8s.io/PriorityClass", (object) => ({ kind: "PriorityClass", body: readPriorityClass(object) })],
  ["policy/PodDisruptionBudget", (object) => ({ kind: "PodDisruptionBudget", body: readBudget(object) })],
  ["scheduling.k8s.io/PodGroup", (object) => ({ kind: "Gang", body: readNativePodGroup(object) })],
  ["scheduling.k8s.io/Workload", (object) => ({ kind: "Gang", body: readNativeWorkload(object) })],
  ["scheduler.grove.io/PodGang", (object) => ({ kind: "Gang", body: readPodGang(object) })],
  ["kueue.x-k8s.io/ClusterQueue", (object, remarks) => ({ kind: "Queue", body: readClusterQueue(object, remarks) })],
  ["kueue.x-k8s.io/LocalQueue", (object, remarks) => ({ kind: "Queue", body: readLocalQueue(object, remarks) })],
  ["kueue.x-k8s.io/Workload", (object) => ({ kind: "Gang", body: readKueueWorkload(object) })],
  ["scheduling.volcano.sh/Queue", (object, remarks) => ({ kind: "Queue", body: readVolcanoQueue(object, remarks) })],
  ["scheduling.volcano.sh/PodGroup", (object) => ({ kind: "Gang", body: readPodGroup(object) })],
  ["scheduling.run.ai/Queue", (object, remarks) => ({ kind: "Queue", body: readKaiQueue(object, remarks) })],
  ["scheduling.run.ai/PodGroup", (object) => ({ kind: "Gang", body: readPodGroup(object) })],
  ["jobset.x-k8s.io/JobSet", (object) => ({ kind: "Gang", body: readJobSet(object) })],
  ["leaderworkerset.x-k8s.io/LeaderWorkerSet", (object) => ({ kind: "Gang", body: readLeaderWorkerSet(object) })],
  [
    "trainer.kubeflow.org/TrainJob",
    (object) => {
      const body = readTrainJob(object);
      return body === undefined ? undefined : { kind: "TrainJob", body };
    },
  ],
  ["resource.k8s.io/ResourceClaim", (object, remarks) => ({ kind: "ResourceClaim", body: readClaim(object, remarks) })],
  [
    "resource.k8s.io/ResourceSlice",
    (object) => {
      const body = readSlice(object);
      return body === undefined ? undefined : { kind: "ResourceSlice", body };
    },
  ],
  [
    "resource.k8s.io/DeviceTaintRule",
    (object) => {
      const body = readTaintRule(object);
      return body === undefined ? undefined : { kind: "DeviceTaintRule", body };
    },
  ],
]);

/** Returns whether objects of this kind have a cluster fact. */
export function hasClusterFact(apiVersion: string, kind: string): boolean {
  return READERS.has(`${groupOf(apiVersion)}/${kind}`);
}

/**
 * Projects a namespace, quota, budget, queue, gang, TrainJob, claim, slice or taint rule. Undefined for an object of another kind, for a TrainJob
 * without progress, for a slice without GPUs and for a rule without effect. Items of a list have no kind on the wire; the watcher sets it. `namespaceAnnotations` names the
 * annotations of namespaces to keep, all by default. Never throws.
 */
export function projectClusterObject(
  object: KubeObject,
  namespaceAnnotations?: readonly string[],
): ClusterProjection | undefined {
  const remarks: Remark[] = [];
  const read = READERS.get(`${groupOf(text(object.apiVersion) ?? "")}/${text(object.kind) ?? ""}`);
  const kindAndBody = read?.(object, remarks, namespaceAnnotations);
  if (kindAndBody === undefined) return undefined;
  const { metadata } = object;
  const fact = {
    ...kindAndBody,
    namespace: text(metadata?.namespace) ?? "",
    name: text(metadata?.name) ?? "",
    uid: text(metadata?.uid) ?? "",
  };
  return { fact: fact as WithoutOrigin<ClusterFact>, remarks };
}
