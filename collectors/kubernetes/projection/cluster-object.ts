import type { KubeCondition, KubeObject, KubeQuantities } from "./kube-object.ts";

/** A ResourceQuota of `v1`. */
export interface ResourceQuotaObject extends KubeObject {
  readonly spec?: { readonly hard?: KubeQuantities } | null;
  readonly status?: { readonly hard?: KubeQuantities; readonly used?: KubeQuantities } | null;
}

/** A LimitRange of `v1`. */
export interface LimitRangeObject extends KubeObject {
  readonly spec?: {
    readonly limits?:
      | readonly {
          readonly type?: string;
          readonly default?: KubeQuantities;
          readonly max?: KubeQuantities;
        }[]
      | null;
  } | null;
}

/** A PriorityClass of `scheduling.k8s.io/v1`. */
export interface PriorityClassObject extends KubeObject {
  readonly value?: number;
  readonly preemptionPolicy?: string | null;
}

/** A PodDisruptionBudget of `policy/v1`. */
export interface DisruptionBudgetObject extends KubeObject {
  readonly spec?: {
    readonly minAvailable?: unknown;
    readonly maxUnavailable?: unknown;
    readonly selector?: {
      readonly matchLabels?: Readonly<Record<string, string>> | null;
      readonly matchExpressions?:
        | readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] | null }[]
        | null;
    } | null;
  } | null;
}

/** The usage of one flavor by a Kueue queue. */
export interface FlavorUsageObject {
  readonly name?: string;
  readonly resources?:
    | readonly { readonly name?: string; readonly total?: unknown; readonly borrowed?: unknown }[]
    | null;
}

/** A ClusterQueue of Kueue. v1beta2 names the cohort `cohortName`. */
export interface ClusterQueueObject extends KubeObject {
  readonly spec?: {
    readonly cohort?: string;
    readonly cohortName?: string;
    readonly resourceGroups?:
      | readonly {
          readonly flavors?:
            | readonly {
                readonly resources?: readonly { readonly name?: string; readonly nominalQuota?: unknown }[] | null;
              }[]
            | null;
        }[]
      | null;
  } | null;
  readonly status?: {
    readonly pendingWorkloads?: number;
    readonly flavorsUsage?: readonly FlavorUsageObject[] | null;
  } | null;
}

/** A LocalQueue of Kueue. v1beta1 names its usage `flavorUsage`. */
export interface LocalQueueObject extends KubeObject {
  readonly spec?: { readonly clusterQueue?: string } | null;
  readonly status?: {
    readonly pendingWorkloads?: number;
    readonly flavorsUsage?: readonly FlavorUsageObject[] | null;
    readonly flavorUsage?: readonly FlavorUsageObject[] | null;
  } | null;
}

/** A Workload of Kueue. */
export interface KueueWorkloadObject extends KubeObject {
  readonly spec?: {
    readonly queueName?: string;
    readonly podSets?: readonly { readonly count?: number }[] | null;
  } | null;
  readonly status?: { readonly conditions?: readonly KubeCondition[] | null } | null;
}

/** A Queue of Volcano. */
export interface VolcanoQueueObject extends KubeObject {
  readonly spec?: {
    readonly parent?: string;
    readonly capability?: KubeQuantities;
    readonly deserved?: KubeQuantities;
  } | null;
  readonly status?: { readonly allocated?: KubeQuantities; readonly pending?: number } | null;
}

/** A PodGroup of Volcano or KAI. */
export interface PodGroupObject extends KubeObject {
  readonly spec?: { readonly minMember?: number; readonly queue?: string } | null;
  readonly status?: { readonly phase?: string; readonly conditions?: readonly KubeCondition[] | null } | null;
}

/** The number of pods of a group that must run together. A group with `basic` instead of `gang` has none. */
export interface GroupPolicyObject {
  readonly gang?: { readonly minCount?: number } | null;
}

/** A PodGroup of kube-scheduler, `scheduling.k8s.io` (KEP-4671). */
export interface NativePodGroupObject extends KubeObject {
  readonly spec?: { readonly schedulingPolicy?: GroupPolicyObject | null } | null;
  readonly status?: { readonly conditions?: readonly KubeCondition[] | null } | null;
}

/** A Workload of `scheduling.k8s.io`. It has groups in the alpha of Kubernetes 1.35; later, groups are PodGroups. */
export interface NativeWorkloadObject extends KubeObject {
  readonly spec?: { readonly podGroups?: readonly { readonly policy?: GroupPolicyObject | null }[] | null } | null;
}

/** A PodGang of `scheduler.grove.io`. */
export interface PodGangObject extends KubeObject {
  readonly spec?: { readonly podgroups?: readonly { readonly minReplicas?: number }[] | null } | null;
  readonly status?: { readonly phase?: string; readonly conditions?: readonly KubeCondition[] | null } | null;
}

/** A Queue of KAI or Run:ai. A quota of -1 means no limit. */
export interface KaiQueueObject extends KubeObject {
  readonly spec?: {
    readonly parentQueue?: string;
    readonly resources?: { readonly gpu?: { readonly quota?: unknown } | null } | null;
  } | null;
  readonly status?: { readonly allocated?: KubeQuantities } | null;
}

/** A JobSet. */
export interface JobSetObject extends KubeObject {
  readonly spec?: {
    readonly suspend?: boolean | null;
    readonly replicatedJobs?:
      | readonly {
          readonly replicas?: number;
          readonly template?: { readonly spec?: { readonly parallelism?: number } | null } | null;
        }[]
      | null;
  } | null;
  readonly status?: { readonly terminalState?: string; readonly conditions?: readonly KubeCondition[] | null } | null;
}

/** A TrainJob of Kubeflow Trainer. Its status has the progress behind the feature gate `TrainJobStatus`. */
export interface TrainJobObject extends KubeObject {
  readonly status?: {
    readonly trainerStatus?: {
      readonly progressPercentage?: number;
      readonly lastUpdatedTime?: string;
    } | null;
  } | null;
}

/** A LeaderWorkerSet. */
export interface LeaderWorkerSetObject extends KubeObject {
  readonly spec?: { readonly leaderWorkerTemplate?: { readonly size?: number } | null } | null;
  readonly status?: { readonly conditions?: readonly KubeCondition[] | null } | null;
}
