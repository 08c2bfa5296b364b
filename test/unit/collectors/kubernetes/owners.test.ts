import { describe, expect, it } from "vitest";
import { resolveOwners, type OwnerLookup } from "../../../../collectors/kubernetes/owners/chain.ts";
import { ownerKinds } from "../../../../collectors/kubernetes/owners/kinds.ts";
import { workloadType } from "../../../../collectors/kubernetes/owners/type.ts";
import { workloadName } from "../../../../collectors/kubernetes/owners/workload-name.ts";
import type { OwnerReference } from "../../../../domain/workload.ts";

const kinds = ownerKinds();
const owner = (apiVersion: string, kind: string, name: string): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: `${kind}-${name}`,
});
const job = owner("batch/v1", "Job", "train");
const replicaSet = owner("apps/v1", "ReplicaSet", "api-5d4f");
const deployment = owner("apps/v1", "Deployment", "api");
const statefulSet = owner("apps/v1", "StatefulSet", "llama-0");
const leader = owner("v1", "Pod", "llama-0");
const lws = owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "llama");

/** Owners by UID: the owner of each object. */
function lookupOf(owned: Readonly<Record<string, OwnerReference | null>>): OwnerLookup {
  return ({ uid }) => {
    const above = owned[uid];
    return above === undefined ? undefined : { ownerReferences: above === null ? [] : [above] };
  };
}

describe("the chain of owners", () => {
  it("leads to the top, through a LeaderWorkerSet's own leader pod", () => {
    const outer = owner("apps/v1", "StatefulSet", "llama");
    const lookup = lookupOf({ [statefulSet.uid]: leader, [leader.uid]: outer, [outer.uid]: lws, [lws.uid]: null });
    const { owners, truncated } = resolveOwners([statefulSet], lookup, kinds);
    expect(owners.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "StatefulSet llama-0",
      "Pod llama-0",
      "StatefulSet llama",
      "LeaderWorkerSet llama",
    ]);
    expect(truncated).toBe(false);
  });

  it("follows the controller, or otherwise the first owner", () => {
    const lookup = lookupOf({ [job.uid]: null, [deployment.uid]: null });
    expect(resolveOwners([deployment, { ...job, controller: true }], lookup, kinds).owners).toEqual([job]);
    expect(resolveOwners([deployment, job], lookup, kinds).owners).toEqual([deployment]);
  });

  it.each<readonly [string, readonly OwnerReference[], OwnerLookup]>([
    ["an unknown kind", [owner("example.com/v1", "Thing", "x")], () => ({})],
    ["a kind of a known name in another group", [owner("example.com/v1", "Job", "x")], () => ({})],
    ["an owner that may not be read", [job], () => undefined],
    ["a loop", [job], lookupOf({ [job.uid]: deployment, [deployment.uid]: job })],
    ["an owner of itself", [job], lookupOf({ [job.uid]: job })],
  ])("ends at %s, marked as truncated", (_, first, lookup) => {
    const { owners, truncated } = resolveOwners(first, lookup, kinds);
    expect(truncated).toBe(true);
    expect(owners[0]).toEqual(first[0]);
  });

  it("names each owner of a loop once", () => {
    const loop = lookupOf({ [job.uid]: deployment, [deployment.uid]: job });
    expect(resolveOwners([job], loop, kinds).owners).toEqual([job, deployment]);
    expect(resolveOwners([job], lookupOf({ [job.uid]: job }), kinds).owners).toEqual([job]);
  });

  it("ends at the tenth owner of a chain of any length", () => {
    let level = 0;
    const endless: OwnerLookup = () => ({ ownerReferences: [owner("batch/v1", "Job", `up-${(level += 1)}`)] });
    const { owners, truncated } = resolveOwners([job], endless, kinds);
    expect([owners.length, truncated]).toEqual([10, true]);
  });

  it("is empty for a pod without owners, for a mirror pod and for garbage", () => {
    for (const first of [undefined, null, [], [owner("v1", "Node", "node-1")], [{}], [{ kind: "Job" }]]) {
      expect(resolveOwners(first, () => ({}), kinds)).toEqual({ owners: [], known: [], truncated: false });
    }
  });

  it("continues through kinds that the configuration adds", () => {
    const added = ownerKinds([{ group: "example.com", kind: "Thing", resource: "things", type: "notebook" }]);
    const thing = owner("example.com/v1", "Thing", "x");
    expect(resolveOwners([thing], lookupOf({ [thing.uid]: null }), added).truncated).toBe(false);
    expect(workloadType({ owners: [thing], labels: {}, overrides: [] }, added).type).toBe("notebook");
    expect(added.all.some(({ resource }) => resource === "things")).toBe(true);
  });
});

describe("the type of a workload", () => {
  const type = (owners: readonly OwnerReference[], labels: Readonly<Record<string, string>> = {}) =>
    workloadType({ owners, labels, overrides: [labels] }, kinds);
  const of = (apiVersion: string, kind: string): OwnerReference => owner(apiVersion, kind, "x");

  it.each<readonly [string, readonly OwnerReference[], Readonly<Record<string, string>>]>([
    ["training", [job], {}],
    ["training", [job, of("batch/v1", "CronJob")], {}],
    ["training", [job, of("jobset.x-k8s.io/v1alpha2", "JobSet"), of("trainer.kubeflow.org/v1alpha1", "TrainJob")], {}],
    ["training", [of("kubeflow.org/v1", "PyTorchJob")], {}],
    ["training", [of("kubeflow.org/v2beta1", "MPIJob")], {}],
    ["training", [of("ray.io/v1", "RayCluster"), of("ray.io/v1", "RayJob")], {}],
    ["training", [of("ray.io/v1", "RayCluster")], { "ray.io/originated-from-crd": "RayJob" }],
    ["training", [of("batch.volcano.sh/v1alpha1", "Job")], {}],
    ["training", [of("run.ai/v1", "RunaiJob")], {}],
    ["inference", [replicaSet, deployment], {}],
    ["inference", [replicaSet], {}],
    ["inference", [statefulSet, leader, lws], {}],
    ["inference", [replicaSet, deployment, of("serving.kserve.io/v1beta1", "InferenceService")], {}],
    ["inference", [statefulSet], { "app.kubernetes.io/name": "vllm" }],
    ["inference", [statefulSet], { "app.kubernetes.io/name": "text-generation-inference" }],
    ["inference", [of("apps/v1", "DaemonSet")], { "llm-d.ai/role": "decode" }],
    ["inference", [of("grove.io/v1alpha1", "PodClique"), of("grove.io/v1alpha1", "PodCliqueSet")], {}],
    ["inference", [replicaSet, deployment, of("apps.nvidia.com/v1alpha1", "NIMService")], {}],
    ["inference", [], { "nvidia.com/dynamo-component-type": "worker" }],
    ["training", [of("argoproj.io/v1alpha1", "Workflow")], {}],
    ["inference", [of("argoproj.io/v1alpha1", "Workflow")], { "app.kubernetes.io/name": "ollama" }],
    ["training", [of("kubeflow.org/v1", "PyTorchJob"), of("workload.codeflare.dev/v1beta2", "AppWrapper")], {}],
    ["other", [of("sparkoperator.k8s.io/v1beta2", "SparkApplication")], {}],
    ["notebook", [statefulSet, of("kubeflow.org/v1", "Notebook")], {}],
    ["notebook", [statefulSet], { "notebook-name": "ada" }],
    ["notebook", [], { component: "singleuser-server" }],
    ["notebook", [replicaSet, deployment], { "notebook-name": "ada" }],
    ["other", [statefulSet], {}],
    ["other", [of("apps/v1", "DaemonSet")], {}],
    ["other", [of("ray.io/v1", "RayCluster")], {}],
    ["other", [of("example.com/v1", "Thing")], {}],
    ["other", [], {}],
  ])("is %s for %j with %j", (expected, owners, labels) => {
    expect(type(owners, labels).type).toBe(expected);
  });

  it("is the value of a label that people set, if it is one of the four types", () => {
    expect(type([job], { "gpu-ledger/workload-type": "notebook" })).toEqual({
      type: "notebook",
      by: "gpu-ledger/workload-type",
    });
    expect(type([job], { "gpu-ledger/workload-type": "fun" })).toEqual({ type: "training", by: "Job" });
  });
});

describe("a workload's name", () => {
  const name = (owners: readonly OwnerReference[], truncated: boolean, labels: Readonly<Record<string, string>> = {}) =>
    workloadName({ name: "pod-1", labels }, owners, truncated);

  it("is the top owner's, or the pod's own", () => {
    expect(name([replicaSet, deployment], false)).toEqual({ kind: "Deployment", name: "api" });
    expect(name([], false)).toEqual({ kind: "Pod", name: "pod-1" });
  });

  it.each<readonly [string, OwnerReference, Readonly<Record<string, string>>, object]>([
    [
      "a Deployment by its ReplicaSet's hash",
      replicaSet,
      { "pod-template-hash": "5d4f" },
      { kind: "Deployment", name: "api" },
    ],
    [
      "a PodCliqueSet by the label part-of",
      owner("grove.io/v1alpha1", "PodClique", "llama-0-decode"),
      { "grove.io/podclique": "llama-0-decode", "app.kubernetes.io/part-of": "llama" },
      { kind: "PodCliqueSet", name: "llama" },
    ],
    [
      "a Workflow by its label",
      owner("example.com/v1", "Step", "s"),
      { "workflows.argoproj.io/workflow": "nightly-17" },
      { kind: "Workflow", name: "nightly-17" },
    ],
    ["a Rollout by its hash", replicaSet, { "rollouts-pod-template-hash": "5d4f" }, { kind: "Rollout", name: "api" }],
    [
      "the ReplicaSet if the hash is of another one",
      replicaSet,
      { "pod-template-hash": "9c1e" },
      { kind: "ReplicaSet", name: "api-5d4f" },
    ],
    [
      "a LeaderWorkerSet by its label",
      statefulSet,
      { "leaderworkerset.sigs.k8s.io/name": "llama" },
      { kind: "LeaderWorkerSet", name: "llama" },
    ],
    [
      "a JobSet by its label",
      job,
      { "jobset.sigs.k8s.io/jobset-name": "pretrain" },
      { kind: "JobSet", name: "pretrain" },
    ],
    [
      "a RayJob by its cluster's labels",
      owner("ray.io/v1", "RayCluster", "rc"),
      { "ray.io/originated-from-cr-name": "tune", "ray.io/originated-from-crd": "RayJob" },
      { kind: "RayJob", name: "tune" },
    ],
    ["the Job if there is no other evidence", job, {}, { kind: "Job", name: "train" }],
  ])("is read from labels if the chain is truncated: %s", (_, top, labels, expected) => {
    expect(name([top], true, labels)).toEqual(expected);
  });
});
