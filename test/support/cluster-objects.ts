import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";

/** The fields of a Pod that tests read. */
export interface PodView extends KubernetesObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly schedulerName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly containerPort: number }[];
      readonly resources: { readonly limits?: Readonly<Record<string, string>> };
    }[];
  };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

/** The Pods among objects. */
export function podsOf(objects: readonly KubernetesObject[]): PodView[] {
  return objects.filter(({ kind }) => kind === "Pod") as PodView[];
}

/** The objects of a kind. */
export function ofKind(objects: readonly KubernetesObject[], kind: string): KubernetesObject[] {
  return objects.filter((object) => object.kind === kind);
}

/** GPU resources among a pod's limits, as counts. */
export function gpuLimits(pod: PodView): Record<string, number> {
  const limits = pod.spec.containers.flatMap(({ resources }) => Object.entries(resources.limits ?? {}));
  return Object.fromEntries(
    limits.filter(([name]) => /^(nvidia|amd)\.com\//.test(name)).map(([name, n]) => [name, Number(n)]),
  );
}
