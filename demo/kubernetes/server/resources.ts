/** A resource that a server serves. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** True if it comes from a CustomResourceDefinition. Only then have items of its lists `kind` and `apiVersion`. */
  readonly custom: boolean;
}

const inGroup =
  (groupVersion: string, custom: boolean) =>
  (resource: string, kind: string, namespaced = true): ApiResource => {
    const [group, version] = groupVersion.includes("/") ? groupVersion.split("/") : ["", groupVersion];
    return { group: group!, version: version!, resource, kind, namespaced, custom };
  };

const core = inGroup("v1", false);
const apps = inGroup("apps/v1", false);
const dra = inGroup("resource.k8s.io/v1", false);
const kueue = inGroup("kueue.x-k8s.io/v1beta1", true);
const volcano = inGroup("scheduling.volcano.sh/v1beta1", true);
const ray = inGroup("ray.io/v1", true);

/** The resources of every cluster that concern GPU workloads. */
export const BUILT_IN_RESOURCES: readonly ApiResource[] = [
  core("namespaces", "Namespace", false),
  core("nodes", "Node", false),
  core("pods", "Pod"),
  core("events", "Event"),
  core("replicationcontrollers", "ReplicationController"),
  core("resourcequotas", "ResourceQuota"),
  core("limitranges", "LimitRange"),
  apps("deployments", "Deployment"),
  apps("replicasets", "ReplicaSet"),
  apps("statefulsets", "StatefulSet"),
  apps("daemonsets", "DaemonSet"),
  inGroup("batch/v1", false)("jobs", "Job"),
  inGroup("batch/v1", false)("cronjobs", "CronJob"),
  inGroup("scheduling.k8s.io/v1", false)("priorityclasses", "PriorityClass", false),
  inGroup("policy/v1", false)("poddisruptionbudgets", "PodDisruptionBudget"),
  inGroup("coordination.k8s.io/v1", false)("leases", "Lease"),
  dra("resourceclaims", "ResourceClaim"),
  dra("resourceslices", "ResourceSlice", false),
];

/** The resources of operators. Each group exists after it is installed. */
export const ADDED_RESOURCES: readonly ApiResource[] = [
  inGroup("jobset.x-k8s.io/v1alpha2", true)("jobsets", "JobSet"),
  inGroup("trainer.kubeflow.org/v1alpha1", true)("trainjobs", "TrainJob"),
  inGroup("kubeflow.org/v1", true)("pytorchjobs", "PyTorchJob"),
  inGroup("kubeflow.org/v1", true)("notebooks", "Notebook"),
  inGroup("kubeflow.org/v1", true)("mpijobs", "MPIJob"),
  kueue("workloads", "Workload"),
  kueue("localqueues", "LocalQueue"),
  kueue("clusterqueues", "ClusterQueue", false),
  kueue("resourceflavors", "ResourceFlavor", false),
  volcano("podgroups", "PodGroup"),
  volcano("queues", "Queue", false),
  inGroup("batch.volcano.sh/v1alpha1", true)("jobs", "Job"),
  inGroup("leaderworkerset.x-k8s.io/v1", true)("leaderworkersets", "LeaderWorkerSet"),
  inGroup("serving.kserve.io/v1beta1", true)("inferenceservices", "InferenceService"),
  ray("rayclusters", "RayCluster"),
  ray("rayjobs", "RayJob"),
];

/** A resource's name in the store, for example `pods` or `batch/jobs`. */
export function resourceId({ group, resource }: Pick<ApiResource, "group" | "resource">): string {
  return group === "" ? resource : `${group}/${resource}`;
}

/** `v1` or `group/version`. */
export function apiVersionOf({ group, version }: Pick<ApiResource, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns the name of a resource in errors: `pods` or `leases.coordination.k8s.io`. */
export function qualifiedName({ group, resource }: Pick<ApiResource, "group" | "resource">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** The resources that a server currently serves. */
export interface ResourceCatalog {
  all(): readonly ApiResource[];
  byPath(group: string, version: string, resource: string): ApiResource | undefined;
  /** Fails with a `RangeError` if no installed resource has this kind. */
  byKind(apiVersion: string, kind: string): ApiResource;
  install(resources: readonly ApiResource[]): void;
  remove(group: string): readonly ApiResource[];
}

/** Creates a catalog with some resources. */
export function createCatalog(resources: readonly ApiResource[]): ResourceCatalog {
  let installed = [...resources];
  return {
    all: () => installed,
    byPath: (group, version, resource) =>
      installed.find((each) => each.group === group && each.version === version && each.resource === resource),
    byKind(apiVersion, kind) {
      const found = installed.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
      if (found === undefined) throw new RangeError(`the server has no resource of ${apiVersion} ${kind}`);
      return found;
    },
    install(more) {
      const known = new Set(installed.map((each) => `${apiVersionOf(each)}/${each.resource}`));
      installed = [...installed, ...more.filter((each) => !known.has(`${apiVersionOf(each)}/${each.resource}`))];
    },
    remove(group) {
      const gone = installed.filter((each) => each.group === group);
      installed = installed.filter((each) => each.group !== group);
      return gone;
    },
  };
}
