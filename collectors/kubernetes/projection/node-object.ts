import type { KubeCondition, KubeObject, KubeQuantities } from "./kube-object.ts";

/** The fields of a Node (`v1`) that the projection reads. */
export interface NodeObject extends KubeObject {
  readonly spec?: {
    readonly providerID?: string | null;
    readonly unschedulable?: boolean | null;
    readonly taints?: readonly TaintObject[] | null;
  } | null;
  readonly status?: {
    readonly capacity?: KubeQuantities;
    readonly allocatable?: KubeQuantities;
    readonly conditions?: readonly KubeCondition[] | null;
  } | null;
}

/** A taint. `timeAdded` is set by controllers that add taints. */
export interface TaintObject {
  readonly key?: string;
  readonly value?: string | null;
  readonly effect?: string;
  readonly timeAdded?: string | null;
}
