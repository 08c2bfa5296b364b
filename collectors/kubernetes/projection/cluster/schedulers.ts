import type { ClusterFactBodies } from "../../../../domain/cluster-fact.ts";
import type {
  KaiQueueObject,
  NativePodGroupObject,
  NativeWorkloadObject,
  PodGangObject,
  PodGroupObject,
  VolcanoQueueObject,
} from "../cluster-object.ts";
import type { KubeCondition } from "../kube-object.ts";
import type { Remarks } from "../remark.ts";
import { millisOf } from "../time.ts";
import { given, objects, text, wholeNumber } from "../wire.ts";
import { gpuAmounts } from "./amounts.ts";

/** Reads a Queue of Volcano. Its quota is `deserved`, otherwise its capability. Usage beyond that is borrowed. */
export function readVolcanoQueue(object: VolcanoQueueObject, remarks: Remarks): ClusterFactBodies["Queue"] {
  const { spec, status } = object;
  const quota = gpuAmounts("quota", spec?.deserved ?? spec?.capability, remarks);
  const admitted = gpuAmounts("allocated", status?.allocated, remarks);
  const borrowed = beyond(admitted, quota);
  const pending = wholeNumber(status?.pending) ?? 0;
  return { scheduler: "volcano", quota, admitted, borrowed, pending, ...given({ parent: text(spec?.parent) }) };
}

/** Reads a Queue of KAI or Run:ai: GPUs and fractions of GPUs. Without a quota it has no limit. Its waiting pods are counted elsewhere. */
export function readKaiQueue(object: KaiQueueObject, remarks: Remarks): ClusterFactBodies["Queue"] {
  const { spec, status } = object;
  const granted = spec?.resources?.gpu?.quota;
  const limitless = granted === undefined || granted === -1 || granted === "-1";
  const quota = limitless ? {} : gpuAmounts("quota", { "nvidia.com/gpu": granted }, remarks);
  const admitted = gpuAmounts("allocated", status?.allocated, remarks);
  const borrowed = beyond(admitted, quota);
  return { scheduler: "kai", quota, admitted, borrowed, pending: 0, ...given({ parent: text(spec?.parentQueue) }) };
}

/** Reads a PodGroup of Volcano or KAI: admitted since its condition Scheduled is true. */
export function readPodGroup(object: PodGroupObject): ClusterFactBodies["Gang"] {
  const { metadata, spec, status } = object;
  const scheduled = whenTrue(status?.conditions, "Scheduled");
  return {
    made: "PodGroup",
    size: wholeNumber(spec?.minMember) ?? 0,
    phase: text(status?.phase) ?? (scheduled === undefined ? "Pending" : "Running"),
    ...given({
      queue: text(spec?.queue),
      queued: millisOf(metadata?.creationTimestamp),
      admitted: millisOf(scheduled?.lastTransitionTime),
    }),
  };
}

/** Reads a PodGroup of kube-scheduler: admitted since it was first scheduled, which never ends. */
export function readNativePodGroup(object: NativePodGroupObject): ClusterFactBodies["Gang"] {
  const { metadata, spec, status } = object;
  const scheduled = whenTrue(status?.conditions, "PodGroupInitiallyScheduled");
  return {
    made: "PodGroup",
    size: wholeNumber(spec?.schedulingPolicy?.gang?.minCount) ?? 0,
    phase: scheduled === undefined ? "Pending" : "Running",
    ...given({ queued: millisOf(metadata?.creationTimestamp), admitted: millisOf(scheduled?.lastTransitionTime) }),
  };
}

/** Reads a Workload of kube-scheduler. Each of its groups is a gang. The size is known only if it has one group. */
export function readNativeWorkload({ metadata, spec }: NativeWorkloadObject): ClusterFactBodies["Gang"] {
  const [group, other] = objects(spec?.podGroups);
  const size = other === undefined ? (wholeNumber(group?.policy?.gang?.minCount) ?? 0) : 0;
  return { made: "Workload", size, phase: "", ...given({ queued: millisOf(metadata?.creationTimestamp) }) };
}

/** Reads a PodGang of Grove. Its size is the sum of its groups' minimum pods, which run together. */
export function readPodGang(object: PodGangObject): ClusterFactBodies["Gang"] {
  const { metadata, spec, status } = object;
  const scheduled = whenTrue(status?.conditions, "Scheduled");
  return {
    made: "PodGang",
    size: objects(spec?.podgroups).reduce((sum, { minReplicas }) => sum + (wholeNumber(minReplicas) ?? 0), 0),
    phase: text(status?.phase) ?? "Pending",
    ...given({ queued: millisOf(metadata?.creationTimestamp), admitted: millisOf(scheduled?.lastTransitionTime) }),
  };
}

function whenTrue(conditions: readonly KubeCondition[] | null | undefined, type: string): KubeCondition | undefined {
  return objects(conditions).find((condition) => condition.type === type && condition.status === "True");
}

function beyond(
  admitted: Readonly<Record<string, number>>,
  quota: Readonly<Record<string, number>>,
): Record<string, number> {
  const borrowed: Record<string, number> = {};
  for (const [name, limit] of Object.entries(quota)) {
    const excess = (admitted[name] ?? 0) - limit;
    if (excess > 0) borrowed[name] = excess;
  }
  return borrowed;
}
