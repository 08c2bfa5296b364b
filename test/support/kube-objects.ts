import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import type { KubeMetadata } from "../../collectors/kubernetes/projection/kube-object.ts";
import type { NodeObject } from "../../collectors/kubernetes/projection/node-object.ts";
import type { ContainerObject, PodObject } from "../../collectors/kubernetes/projection/pod-object.ts";
import type { PodOptions } from "../../collectors/kubernetes/projection/pod.ts";

/** The default creation time of all objects: 1 May 2026, noon. */
export const CREATED = "2026-05-01T12:00:00Z";

/** Options of a projection without other objects. */
export const ALONE: PodOptions = { kinds: ownerKinds(), lookup: () => undefined };

/** A container with these resources as its limits. */
export function container(limits: Readonly<Record<string, unknown>>, name = "main"): ContainerObject {
  return { name, resources: { limits, requests: limits } };
}

/** An init container that keeps running beside the others. */
export function sidecar(limits: Readonly<Record<string, unknown>>): ContainerObject {
  return { ...container(limits, "sidecar"), restartPolicy: "Always" };
}

/** A running pod on node-1 in namespace research. */
export function pod(parts: {
  readonly metadata?: KubeMetadata;
  readonly spec?: NonNullable<PodObject["spec"]>;
  readonly status?: NonNullable<PodObject["status"]>;
  readonly limits?: Readonly<Record<string, unknown>>;
}): PodObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "train-0",
      namespace: "research",
      uid: "00000000-0000-4000-8000-000000000001",
      creationTimestamp: CREATED,
      ...parts.metadata,
    },
    spec: { nodeName: "node-1", containers: [container(parts.limits ?? {})], ...parts.spec },
    status: { phase: "Running", ...parts.status },
  };
}

/** A Ready node with these labels and this capacity, all of it allocatable. */
export function node(
  labels: Readonly<Record<string, string>>,
  capacity: Readonly<Record<string, unknown>>,
  parts: { readonly metadata?: KubeMetadata; readonly spec?: NonNullable<NodeObject["spec"]> } = {},
): NodeObject {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node-1", uid: "n-1", creationTimestamp: CREATED, labels, ...parts.metadata },
    spec: { ...parts.spec },
    status: {
      capacity: { cpu: "96", ...capacity },
      allocatable: { cpu: "95", ...capacity },
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", lastTransitionTime: CREATED }],
    },
  };
}
