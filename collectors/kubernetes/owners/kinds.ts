import type { WorkloadType } from "../../../domain/workload.ts";

/** A kind of object that owns pods, directly or through others. */
export interface OwnerKind {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** The plural of the kind in the API, which permissions use. */
  readonly resource: string;
  /** The workload type of its pods; absent if the kind does not determine it. */
  readonly type?: WorkloadType;
  /** Users run any workload under this kind. More specific labels override its type. */
  readonly generic?: true;
}

/**
 * The common owners of GPU pods: Kubernetes' own controllers, the training, serving and notebook operators of Kubeflow, KServe, Knative,
 * Ray, Volcano, JobSet, LeaderWorkerSet, Grove, Dynamo, NIM, AppWrapper, Spark and Argo Workflows, and Run:ai's.
 */
export const OWNER_KINDS: readonly OwnerKind[] = [
  { group: "", kind: "Pod", resource: "pods", generic: true },
  { group: "", kind: "ReplicationController", resource: "replicationcontrollers", type: "inference", generic: true },
  { group: "apps", kind: "ReplicaSet", resource: "replicasets", type: "inference", generic: true },
  { group: "apps", kind: "Deployment", resource: "deployments", type: "inference", generic: true },
  { group: "apps", kind: "StatefulSet", resource: "statefulsets", generic: true },
  { group: "apps", kind: "DaemonSet", resource: "daemonsets", generic: true },
  { group: "batch", kind: "Job", resource: "jobs", type: "training", generic: true },
  { group: "batch", kind: "CronJob", resource: "cronjobs", type: "training", generic: true },
  { group: "jobset.x-k8s.io", kind: "JobSet", resource: "jobsets", type: "training" },
  { group: "trainer.kubeflow.org", kind: "TrainJob", resource: "trainjobs", type: "training" },
  { group: "kubeflow.org", kind: "PyTorchJob", resource: "pytorchjobs", type: "training" },
  { group: "kubeflow.org", kind: "TFJob", resource: "tfjobs", type: "training" },
  { group: "kubeflow.org", kind: "MPIJob", resource: "mpijobs", type: "training" },
  { group: "kubeflow.org", kind: "XGBoostJob", resource: "xgboostjobs", type: "training" },
  { group: "kubeflow.org", kind: "PaddleJob", resource: "paddlejobs", type: "training" },
  { group: "kubeflow.org", kind: "JAXJob", resource: "jaxjobs", type: "training" },
  { group: "kubeflow.org", kind: "Notebook", resource: "notebooks", type: "notebook" },
  { group: "ray.io", kind: "RayJob", resource: "rayjobs", type: "training" },
  { group: "ray.io", kind: "RayService", resource: "rayservices", type: "inference" },
  { group: "ray.io", kind: "RayCluster", resource: "rayclusters", generic: true },
  { group: "leaderworkerset.x-k8s.io", kind: "LeaderWorkerSet", resource: "leaderworkersets", type: "inference" },
  { group: "serving.kserve.io", kind: "InferenceService", resource: "inferenceservices", type: "inference" },
  { group: "serving.kserve.io", kind: "LLMInferenceService", resource: "llminferenceservices", type: "inference" },
  { group: "serving.knative.dev", kind: "Revision", resource: "revisions", type: "inference" },
  { group: "serving.knative.dev", kind: "Configuration", resource: "configurations", type: "inference" },
  { group: "serving.knative.dev", kind: "Service", resource: "services", type: "inference" },
  { group: "grove.io", kind: "PodCliqueSet", resource: "podcliquesets", type: "inference", generic: true },
  {
    group: "grove.io",
    kind: "PodCliqueScalingGroup",
    resource: "podcliquescalinggroups",
    type: "inference",
    generic: true,
  },
  { group: "grove.io", kind: "PodClique", resource: "podcliques", type: "inference", generic: true },
  { group: "nvidia.com", kind: "DynamoGraphDeployment", resource: "dynamographdeployments", type: "inference" },
  { group: "nvidia.com", kind: "DynamoComponentDeployment", resource: "dynamocomponentdeployments", type: "inference" },
  { group: "apps.nvidia.com", kind: "NIMPipeline", resource: "nimpipelines", type: "inference" },
  { group: "apps.nvidia.com", kind: "NIMService", resource: "nimservices", type: "inference" },
  { group: "workload.codeflare.dev", kind: "AppWrapper", resource: "appwrappers", generic: true },
  { group: "sparkoperator.k8s.io", kind: "ScheduledSparkApplication", resource: "scheduledsparkapplications" },
  { group: "sparkoperator.k8s.io", kind: "SparkApplication", resource: "sparkapplications" },
  { group: "argoproj.io", kind: "CronWorkflow", resource: "cronworkflows", type: "training", generic: true },
  { group: "argoproj.io", kind: "Workflow", resource: "workflows", type: "training", generic: true },
  { group: "batch.volcano.sh", kind: "Job", resource: "jobs", type: "training" },
  { group: "run.ai", kind: "RunaiJob", resource: "runaijobs", type: "training" },
  { group: "argoproj.io", kind: "Rollout", resource: "rollouts", type: "inference", generic: true },
];

/** The known owner kinds, with a lookup by owner reference. */
export interface OwnerKinds {
  /** All kinds, for the permissions to read them. */
  readonly all: readonly OwnerKind[];
  find(reference: { readonly apiVersion: string; readonly kind: string }): OwnerKind | undefined;
}

/** Returns the built-in kinds and those of the configuration. A configured kind replaces a built-in one with the same name. */
export function ownerKinds(further: readonly OwnerKind[] = []): OwnerKinds {
  const byName = new Map<string, OwnerKind>();
  for (const kind of [...OWNER_KINDS, ...further]) byName.set(`${kind.group}/${kind.kind}`, kind);
  return {
    all: [...byName.values()],
    find: ({ apiVersion, kind }) => byName.get(`${groupOf(apiVersion)}/${kind}`),
  };
}

/** Returns the API group of an `apiVersion`: `apps` for `apps/v1`, empty for `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? "" : apiVersion.slice(0, slash);
}
