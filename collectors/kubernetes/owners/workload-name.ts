import type { OwnerReference } from "../../../domain/workload.ts";

/** The name and kind of a workload. */
export interface WorkloadName {
  readonly kind: string;
  readonly name: string;
}

type Labels = Readonly<Record<string, string>>;

/** Labels in which operators name an object above the readable owners, highest first. */
const NAMED_BY_LABEL: readonly (readonly [label: string, kind: string])[] = [
  ["serving.kserve.io/inferenceservice", "InferenceService"],
  ["leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"],
  ["jobset.sigs.k8s.io/jobset-name", "JobSet"],
  ["notebook-name", "Notebook"],
  ["nvidia.com/dynamo-graph-deployment-name", "DynamoGraphDeployment"],
  ["sparkoperator.k8s.io/app-name", "SparkApplication"],
  ["workflows.argoproj.io/workflow", "Workflow"],
];

/**
 * Returns the user's name for the workload of a pod: the top of its chain, or the pod itself. If the chain is truncated, the pod's labels
 * can name the objects above: a ReplicaSet's name without the pod template's hash is the name of its Deployment.
 */
export function workloadName(
  pod: { readonly name: string; readonly labels: Labels },
  owners: readonly OwnerReference[],
  truncated: boolean,
): WorkloadName {
  const top = owners.at(-1);
  if (top === undefined) return { kind: "Pod", name: pod.name };
  return (truncated ? namedAbove(pod.labels, top) : undefined) ?? { kind: top.kind, name: top.name };
}

function namedAbove(labels: Labels, top: OwnerReference): WorkloadName | undefined {
  for (const [label, kind] of NAMED_BY_LABEL) {
    const name = labels[label];
    if (name !== undefined && name !== "") return { kind, name };
  }
  const partOf = labels["app.kubernetes.io/part-of"];
  if (labels["grove.io/podclique"] !== undefined && partOf !== undefined) return { kind: "PodCliqueSet", name: partOf };
  const origin = labels["ray.io/originated-from-cr-name"];
  const crd = labels["ray.io/originated-from-crd"];
  if (top.kind === "RayCluster" && origin !== undefined && crd !== undefined) return { kind: crd, name: origin };
  if (top.kind !== "ReplicaSet") return undefined;
  return (
    withoutHash(top.name, labels["rollouts-pod-template-hash"], "Rollout") ??
    withoutHash(top.name, labels["pod-template-hash"], "Deployment")
  );
}

function withoutHash(name: string, hash: string | undefined, kind: string): WorkloadName | undefined {
  if (hash === undefined || hash === "" || !name.endsWith(`-${hash}`)) return undefined;
  return { kind, name: name.slice(0, -hash.length - 1) };
}
