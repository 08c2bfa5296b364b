import { ownerKinds, type OwnerKind, type OwnerKinds } from "../owners/kinds.ts";

/** A kind of object that the watcher lists and watches. */
export interface WatchedKind {
  /** Empty for the core group. */
  readonly group: string;
  /** The plural under which the API serves it. */
  readonly resource: string;
  readonly kind: string;
  /** Which of its objects are asked for; all where absent. */
  readonly fieldSelector?: string;
  /** What reports lack where it may not be read, as the end of a sentence that begins with "without it". */
  readonly without: string;
}

/**
 * Everything that is listed and watched. The groups of operators are watched as soon as they are installed. Others than
 * pods come first: a pod's fact draws on its gang and its claims.
 */
export const WATCHED_KINDS: readonly WatchedKind[] = [
  {
    group: "",
    resource: "nodes",
    kind: "Node",
    without: "machines have no type, zone, pool or price, and a GPU that no exporter speaks of does not exist",
  },
  {
    group: "",
    resource: "namespaces",
    kind: "Namespace",
    without: "no team or cost centre is read from a namespace's labels",
  },
  { group: "", resource: "resourcequotas", kind: "ResourceQuota", without: "no quota and its use is shown" },
  {
    group: "",
    resource: "limitranges",
    kind: "LimitRange",
    without: "GPUs that a namespace gives by default are unexplained",
  },
  {
    group: "scheduling.k8s.io",
    resource: "priorityclasses",
    kind: "PriorityClass",
    without: "priority classes have names and no values",
  },
  {
    group: "scheduling.k8s.io",
    resource: "podgroups",
    kind: "PodGroup",
    without: "kube-scheduler's gangs have no size: their waiting is not told from their work",
  },
  {
    group: "scheduling.k8s.io",
    resource: "workloads",
    kind: "Workload",
    without: "gangs of Kubernetes 1.35 have no size: their waiting is not told from their work",
  },
  {
    group: "scheduler.grove.io",
    resource: "podgangs",
    kind: "PodGang",
    without: "Grove's gangs have no size: their waiting is not told from their work",
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
    without: "devices that a rule has tainted count as free",
  },
  {
    group: "resource.k8s.io",
    resource: "resourceclaims",
    kind: "ResourceClaim",
    without: "what a pod got by DRA is known from the exporters' labels alone",
  },
  {
    group: "kueue.x-k8s.io",
    resource: "clusterqueues",
    kind: "ClusterQueue",
    without: "Kueue's quotas, and what was borrowed, are not shown",
  },
  {
    group: "kueue.x-k8s.io",
    resource: "localqueues",
    kind: "LocalQueue",
    without: "Kueue's queues of namespaces are not shown",
  },
  {
    group: "kueue.x-k8s.io",
    resource: "workloads",
    kind: "Workload",
    without: "Kueue's gangs have no size, and pods no times of queueing and admission",
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
    without: "Volcano's gangs have no size: their waiting is not told from their work",
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
    without: "KAI's and Run:ai's gangs have no size: their waiting is not told from their work",
  },
  {
    group: "jobset.x-k8s.io",
    resource: "jobsets",
    kind: "JobSet",
    without: "JobSets have no size: their waiting is not told from their work",
  },
  {
    group: "leaderworkerset.x-k8s.io",
    resource: "leaderworkersets",
    kind: "LeaderWorkerSet",
    without: "LeaderWorkerSets have no size: their waiting is not told from their work",
  },
  {
    group: "",
    resource: "events",
    kind: "Event",
    fieldSelector: "reason=Pulled",
    without: "it is not known when a pod's images were there, only when it started",
  },
  {
    group: "",
    resource: "pods",
    kind: "Pod",
    without: "nothing tells who holds a GPU but the exporters' labels",
  },
];

/** One thing that the watcher must be allowed to do. */
export interface NeededPermission {
  readonly verb: "get" | "list" | "watch" | "create" | "update";
  readonly group: string;
  readonly resource: string;
  /** Of a Role; absent for what is needed in the whole cluster. */
  readonly namespace?: string;
  /** As in {@link WatchedKind}. */
  readonly without: string;
}

/** The election's lease, the only thing that is written. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** All permissions of a collector: reading what is watched and what owns it, and writing its one lease. */
export function neededPermissions(lease: LeaseName, owners: OwnerKinds = ownerKinds()): readonly NeededPermission[] {
  const watched = WATCHED_KINDS.flatMap(({ group, resource, without }) =>
    (["list", "watch"] as const).map((verb) => ({ verb, group, resource, without })),
  );
  const owned = owners.all.map(({ group, resource, kind }: OwnerKind) => ({
    verb: "get" as const,
    group,
    resource,
    without: `a chain of owners ends at its ${kind}, whose labels are not read`,
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
