import type { KubeObject } from "../../collectors/kubernetes/projection/kube-object.ts";
import type { NodeObject } from "../../collectors/kubernetes/projection/node-object.ts";
import type {
  ContainerObject,
  ContainerStatusObject,
  PodObject,
} from "../../collectors/kubernetes/projection/pod-object.ts";
import type { ResourceNames } from "../../collectors/kubernetes/projection/gpu-resource.ts";
import { projectPod } from "../../collectors/kubernetes/projection/pod.ts";
import { given, objects, texts, wholeNumber } from "../../collectors/kubernetes/projection/wire.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import type { SeenObject } from "../seen.ts";

/** kubectl's copy of a whole object. No fact of an object other than a pod has it. */
const COPY = "kubectl.kubernetes.io/last-applied-configuration";
const KINDS = ownerKinds();

/**
 * Returns the fields of a pod that its facts have. Of a pod that requests no GPU they are its owners, its marks, its node, its images and
 * the resources of its containers. A pod with a claim counts as one with a GPU, because the claims are listed at the same time.
 */
export function trimmedPod(pod: SeenObject & PodObject, resourceNames?: ResourceNames): SeenObject {
  const { apiVersion, kind, metadata, spec, status } = pod;
  const projected = projectPod(pod, { kinds: KINDS, lookup: () => undefined, ...given({ resourceNames }) });
  if (projected === undefined) {
    const kept: SeenObject & PodObject = {
      ...given({ apiVersion, kind }),
      metadata: ownMetadata(pod),
      spec: {
        ...pick(spec, ["nodeName", "resources"]),
        containers: objects(spec?.containers).map((each) => pick(each, PLAIN_CONTAINER)),
        initContainers: objects(spec?.initContainers).map((each) => pick(each, PLAIN_CONTAINER)),
      },
      status: pick(status, ["phase"]),
    };
    return kept;
  }
  const { uid } = metadata;
  const kept: SeenObject & PodObject = {
    ...given({ apiVersion, kind }),
    metadata: { uid, ...pick(metadata, POD_METADATA) },
    spec: {
      ...pick(spec, POD_SPEC),
      containers: objects(spec?.containers).map(containerOf),
      initContainers: objects(spec?.initContainers).map(containerOf),
      volumes: objects(spec?.volumes).map((each) => pick(each, ["name", "persistentVolumeClaim"])),
    },
    status: {
      ...pick(status, POD_STATUS),
      containerStatuses: objects(status?.containerStatuses).map(statusOf),
      initContainerStatuses: objects(status?.initContainerStatuses).map(statusOf),
    },
  };
  return kept;
}

const PLAIN_CONTAINER = ["name", "restartPolicy", "resources", "image"] as const;
const POD_METADATA = [
  "name",
  "generateName",
  "namespace",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
] as const;
const POD_SPEC = [
  "nodeName",
  "schedulerName",
  "priorityClassName",
  "nodeSelector",
  "tolerations",
  "schedulingGates",
  "resourceClaims",
  "activeDeadlineSeconds",
  "resources",
  "schedulingGroup",
  "workloadRef",
] as const;
const POD_STATUS = [
  "phase",
  "reason",
  "message",
  "startTime",
  "conditions",
  "resourceClaimStatuses",
  "extendedResourceClaimStatus",
] as const;

function containerOf(container: ContainerObject): ContainerObject {
  return {
    ...pick(container, [...PLAIN_CONTAINER, "command", "args"]),
    env: objects(container.env).map((each) => pick(each, ["name", "value"])),
    volumeMounts: objects(container.volumeMounts).map((each) => pick(each, ["name", "mountPath"])),
  };
}

function statusOf(status: ContainerStatusObject): ContainerStatusObject {
  return pick(status, ["name", "restartCount", "state", "lastState", "allocatedResourcesStatus"]);
}

/** Returns the fields of a node that its facts have. Images, addresses and managed fields, which are most of a node, are dropped. */
export function trimmedNode({ apiVersion, kind, metadata, spec, status }: SeenObject & NodeObject): SeenObject {
  const { uid } = metadata;
  const kept: SeenObject & NodeObject = {
    ...given({ apiVersion, kind }),
    metadata: { uid, ...pick(metadata, ["name", "creationTimestamp", "labels", "annotations"]) },
    spec: pick(spec, ["providerID", "unschedulable", "taints"]),
    status: pick(status, ["capacity", "allocatable", "conditions"]),
  };
  return kept;
}

/** Returns the metadata of an owner that a chain of owners needs, and the deadline of a Job. */
export function trimmedOwner(
  owner: SeenObject & { readonly spec?: { readonly activeDeadlineSeconds?: unknown } | null },
): SeenObject {
  const { apiVersion, kind, spec } = owner;
  const activeDeadlineSeconds = wholeNumber(spec?.activeDeadlineSeconds);
  return {
    ...given({ apiVersion, kind }),
    metadata: ownMetadata(owner),
    ...(activeDeadlineSeconds === undefined ? {} : { spec: { activeDeadlineSeconds } }),
  };
}

/** Returns any other object without its managed fields and without kubectl's copy of it. */
export function trimmed<Seen extends SeenObject>(object: Seen): Seen {
  const { managedFields: _, ...metadata } = object.metadata as Seen["metadata"] & { readonly managedFields?: unknown };
  return { ...object, metadata: { ...metadata, ...withoutCopy(object) } };
}

function ownMetadata(object: SeenObject): SeenObject["metadata"] {
  const { metadata } = object;
  const names = ["name", "namespace", "creationTimestamp", "labels", "ownerReferences"] as const;
  return { uid: metadata.uid, ...pick(metadata, names), ...withoutCopy(object) };
}

function withoutCopy({ metadata }: KubeObject): { readonly annotations?: Readonly<Record<string, string>> } {
  if (metadata?.annotations === undefined || metadata.annotations === null) return {};
  const { [COPY]: _, ...annotations } = texts(metadata.annotations);
  return { annotations };
}

/** Returns the fields of an object that it has; none of a value that is not an object. */
function pick<From extends object, Name extends keyof From>(
  from: From | null | undefined,
  names: readonly Name[],
): Pick<From, Name> {
  const kept: Partial<Pick<From, Name>> = {};
  if (typeof from === "object" && from !== null)
    for (const name of names) if (from[name] !== undefined) kept[name] = from[name];
  return kept as Pick<From, Name>;
}
