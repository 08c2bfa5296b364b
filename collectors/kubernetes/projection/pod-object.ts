import type { KubeCondition, KubeObject, KubeQuantities } from "./kube-object.ts";

/** The fields of a Pod (`v1`) that the projection reads. */
export interface PodObject extends KubeObject {
  readonly spec?: PodSpecObject | null;
  readonly status?: PodStatusObject | null;
}

/** A Pod's spec. */
export interface PodSpecObject {
  readonly nodeName?: string | null;
  readonly schedulerName?: string | null;
  readonly priorityClassName?: string | null;
  readonly nodeSelector?: Readonly<Record<string, string>> | null;
  readonly tolerations?: readonly { readonly key?: string; readonly operator?: string }[] | null;
  readonly schedulingGates?: readonly { readonly name?: string }[] | null;
  readonly containers?: readonly ContainerObject[] | null;
  readonly initContainers?: readonly ContainerObject[] | null;
  readonly resourceClaims?: readonly PodClaimObject[] | null;
  readonly activeDeadlineSeconds?: number | null;
  /** The resources of the whole pod (KEP-2837). */
  readonly resources?: { readonly limits?: KubeQuantities; readonly requests?: KubeQuantities } | null;
  readonly volumes?:
    | readonly { readonly name?: string; readonly persistentVolumeClaim?: { readonly claimName?: string } | null }[]
    | null;
  /** The PodGroup of kube-scheduler, since Kubernetes 1.36 (KEP-4671). */
  readonly schedulingGroup?: { readonly podGroupName?: string | null } | null;
  /** The same in the alpha version of Kubernetes 1.35: a Workload of `scheduling.k8s.io`. */
  readonly workloadRef?: { readonly name?: string | null } | null;
}

/** A container. An init container with restart policy Always is a sidecar. */
export interface ContainerObject {
  readonly name?: string;
  readonly restartPolicy?: string | null;
  readonly resources?: { readonly limits?: KubeQuantities; readonly requests?: KubeQuantities } | null;
  readonly image?: string;
  readonly command?: readonly string[] | null;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name?: string; readonly value?: string }[] | null;
  readonly volumeMounts?: readonly { readonly name?: string; readonly mountPath?: string }[] | null;
}

/** A claim that a pod names directly, or that a template creates. */
export interface PodClaimObject {
  readonly name?: string;
  readonly resourceClaimName?: string | null;
  readonly resourceClaimTemplateName?: string | null;
}

/** A Pod's status. */
export interface PodStatusObject {
  readonly phase?: string;
  readonly reason?: string | null;
  readonly message?: string | null;
  readonly startTime?: string | null;
  readonly conditions?: readonly KubeCondition[] | null;
  readonly containerStatuses?: readonly ContainerStatusObject[] | null;
  readonly initContainerStatuses?: readonly ContainerStatusObject[] | null;
  readonly resourceClaimStatuses?:
    | readonly { readonly name?: string; readonly resourceClaimName?: string | null }[]
    | null;
  /** The claim that was created for extended resources served by DRA (Kubernetes 1.34 and later). */
  readonly extendedResourceClaimStatus?: {
    readonly resourceClaimName?: string;
    readonly requestMappings?: readonly { readonly resourceName?: string }[] | null;
  } | null;
}

/** The kubelet's status of one container. */
export interface ContainerStatusObject {
  readonly name?: string;
  readonly restartCount?: number;
  readonly state?: ContainerStateObject | null;
  readonly lastState?: ContainerStateObject | null;
  /** The container's devices of each resource (KEP-4680). */
  readonly allocatedResourcesStatus?:
    | readonly {
        readonly name?: string;
        readonly resources?: readonly { readonly resourceID?: string; readonly health?: string }[] | null;
      }[]
    | null;
}

/** One of the three states of a container. */
export interface ContainerStateObject {
  readonly waiting?: { readonly reason?: string; readonly message?: string } | null;
  readonly running?: { readonly startedAt?: string | null } | null;
  readonly terminated?: {
    readonly reason?: string;
    readonly startedAt?: string | null;
    readonly finishedAt?: string | null;
  } | null;
}
