import type { KubeCondition, KubeObject, KubeQuantities } from "./kube-object.ts";

/** A Node of `v1`, as far as the projection reads it. */
export interface NodeObject extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean | null;
    readonly taints?: readonly TaintObject[] | null;
  } | null;
  readonly status?: {
    readonly capacity?: KubeQuantities;
    readonly allocatable?: KubeQuantities;
    readonly conditions?: readonly KubeCondition[] | null;
  } | null;
}

/** A taint; `timeAdded` is set by the controllers that taint for a reason. */
export interface TaintObject {
  readonly key?: string;
  readonly value?: string | null;
  readonly effect?: string;
  readonly timeAdded?: string | null;
}
