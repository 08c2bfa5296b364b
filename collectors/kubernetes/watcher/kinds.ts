import { ownerKinds, type OwnerKind, type OwnerKinds } from "../owners/kinds.ts";

/** A kind of object that the watcher lists and watches. */
export interface WatchedKind {
  /** Empty for the core group. */
  readonly group: string;
  /** The plural of the kind in the API. */
  readonly resource: string;
  readonly kind: string;
  /** A field selector for the list and watch; absent for all objects. */
  readonly fieldSelector?: string;
  /** The effect on reports if this kind may not be read. It ends a sentence that begins with "without it". */
  readonly without: string;
}

/**
 * Everything that is listed and watched. Kinds of operators are watched as soon as they are installed. Pods come last, because a pod's fact
 * depends on its gang and its claims.
 */
export const WATCHED_KINDS: readonly WatchedKind[] = [
  {
    group: "",
    resource: "nodes",
    kind: "Node",
    without: "machines have no type, zone, pool or price, and a GPU without an exporter is not counted",
  },
  {
    group: "",
    resource: "namespaces",
    kind: "Namespace",
    without: "no team or cost center is read from a namespace's labels",
  },
  { group: "", resource: "resourcequotas", kind: "ResourceQuota", without: "quotas and their use are not shown" },
  {
    group: "",
    resource: "limitranges",
    kind: "LimitRange",
    without: "GPUs that a namespace requests by default have no explanation",
  },
  {
    group: "scheduling.k8s.io",
    resource: "priorityclasses",
    kind: "PriorityClass",
    without: "priority classes have no values, only names",
  },
  {
    group: "policy",
    resource: "poddisruptionbudgets",
    kind: "PodDisruptionBudget",
    without: "it is unknown which inference has a PodDisruptionBudget",
  },
  {
    group: "scheduling.k8s.io",
    resource: "podgroups",
    kind: "PodGroup",
    without: "kube-scheduler's gangs have no size, so their waiting cannot be separated from their work",
  },
  {
    group: "scheduling.k8s.io",
    resource: "workloads",
    kind: "Workload",
    without: "gangs of Kubernetes 1.35 have no size, so their waiting cannot be separated from their work",
  },
  {
    group: "scheduler.grove.io",
    resource: "podgangs",
    kind: "PodGang",
    without: "Grove's gangs have no size, so their waiting cannot be separated from their work",
  },
  {
    group: "resource.k8s.io",
    resource: "resourceslices",
    kind: "ResourceSlice",
    without: "devices of DRA have no UUID, and their holders are found by the exporters' labels alone",
  },
  {
    group: "resource.k8s.io",
    resource: "devicetaintrules",
    kind: "DeviceTaintRule",
    without: "devices that a taint rule has tainted count as free",
  },
  {
    group: "resource.k8s.io",
    resource: "resourceclaims",
    kind: "ResourceClaim",
    without: "the DRA devices of a pod are known only from the exporters' labels",
  },
  {
    group: "kueue.x-k8s.io",
    resource: "clusterqueues",
    kind: "ClusterQueue",
    without: "Kueue's quotas and borrowed quota are not shown",
  },
  {
    group: "kueue.x-k8s.io",
    resource: "localqueues",
    kind: "LocalQueue",
    without: "Kueue's LocalQueues are not shown",
  },
  {
    group: "kueue.x-k8s.io",
    resource: "workloads",
    kind: "Workload",
    without: "Kueue's gangs have no size, and pods have no times of queueing and admission",
  },
  {
    group: "scheduling.volcano.sh",
    resource: "queues",
    kind: "Queue",
    without: "Volcano's queues are not shown",
  },
  {
    group: "scheduling.volcano.sh",
    resource: "podgroups",
    kind: "PodGroup",
    without: "Volcano's gangs have no size, so their waiting cannot be separated from their work",
  },
  {
    group: "scheduling.run.ai",
    resource: "queues",
    kind: "Queue",
    without: "KAI's and Run:ai's queues are not shown",
  },
  {
    group: "scheduling.run.ai",
    resource: "podgroups",
    kind: "PodGroup",
    without: "KAI's and Run:ai's gangs have no size, so their waiting cannot be separated from their work",
  },
  {
    group: "jobset.x-k8s.io",
    resource: "jobsets",
    kind: "JobSet",
    without: "JobSets have no size, so their waiting cannot be separated from their work",
  },
  {
    group: "trainer.kubeflow.org",
    resource: "trainjobs",
    kind: "TrainJob",
    without: "the work that a TrainJob lost is not known from its progress",
  },
  {
    group: "leaderworkerset.x-k8s.io",
    resource: "leaderworkersets",
    kind: "LeaderWorkerSet",
    without: "LeaderWorkerSets have no size, so their waiting cannot be separated from their work",
  },
  {
    group: "",
    resource: "events",
    kind: "Event",
    fieldSelector: "reason=Pulled",
    without: "the time when a pod's images were pulled is not known, only the time when it started",
  },
  {
    group: "",
    resource: "pods",
    kind: "Pod",
    without: "the holder of a GPU is known only from the exporters' labels",
  },
];

/** A permission that the watcher needs. */
export interface NeededPermission {
  readonly verb: "get" | "list" | "watch" | "create" | "update";
  readonly group: string;
  readonly resource: string;
  /** The namespace of a Role; absent for a permission in the whole cluster. */
  readonly namespace?: string;
  /** As in {@link WatchedKind}. */
  readonly without: string;
}

/** The lease of the election, the only object that is written. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** Returns all permissions of a collector: reading the watched kinds and their owners, and writing its one lease. */
export function neededPermissions(lease: LeaseName, owners: OwnerKinds = ownerKinds()): readonly NeededPermission[] {
  const watched = WATCHED_KINDS.flatMap(({ group, resource, without }) =>
    (["list", "watch"] as const).map((verb) => ({ verb, group, resource, without })),
  );
  const owned = owners.all.map((owner) => ({
    verb: "get" as const,
    group: owner.group,
    resource: owner.resource,
    without: withoutOwner(owner),
  }));
  const leased = (["get", "create", "update"] as const).map((verb) => ({
    verb,
    group: "coordination.k8s.io",
    resource: "leases",
    namespace: lease.namespace,
    without: "no collector can be elected, and nothing is watched",
  }));
  return [...watched, ...owned, ...leased];
}

/** Returns the effect on reports if a kind of owner may not be read, as in {@link WatchedKind}. */
export function withoutOwner({ kind }: OwnerKind): string {
  return `a chain of owners ends at its ${kind}, and the labels of that object are not read`;
}
