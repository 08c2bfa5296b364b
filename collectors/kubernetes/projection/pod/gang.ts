import type { Gang } from "../../../../domain/workload.ts";
import type { PodObject } from "../pod-object.ts";
import { parseCount } from "../quantity.ts";
import { text, texts } from "../wire.ts";

type Texts = Readonly<Record<string, string>>;

/** Labels and annotations that name a queue, in the order of the lookup. */
const QUEUES = [
  "kueue.x-k8s.io/queue-name",
  "kai.scheduler/queue",
  "runai/queue",
  "volcano.sh/queue-name",
  "scheduling.volcano.sh/queue-name",
];

/**
 * Returns the queue that the maps name; undefined without one. The caller's order is the pod's labels, its annotations, then its owners'.
 */
export function queueOf(maps: readonly Texts[]): string | undefined {
  for (const map of maps) {
    for (const name of QUEUES) if (map[name] !== undefined && map[name] !== "") return map[name];
  }
  return undefined;
}

/** Annotations and labels that name a PodGroup: those of Volcano, of KAI and Run:ai, and of the coscheduling plugin. */
const POD_GROUPS = [
  "scheduling.k8s.io/group-name",
  "scheduling.volcano.sh/group-name",
  "pod-group-name",
  "scheduling.x-k8s.io/pod-group",
  "pod-group.scheduling.sigs.k8s.io",
];

/**
 * Returns the gang of a pod from its spec, labels and annotations. The unit that its scheduler starts together comes first (a PodGroup,
 * with kube-scheduler's own before others, and Grove's PodGang). Then come Kueue's Workload, a group of a LeaderWorkerSet (named like its
 * leader), and a JobSet. The size is 0 if the pod does not have it.
 */
export function gangOf({ metadata, spec }: PodObject): Gang | undefined {
  const [labels, annotations] = [texts(metadata?.labels), texts(metadata?.annotations)];
  const own = text(spec?.schedulingGroup?.podGroupName);
  if (own !== undefined && own !== "") return { kind: "PodGroup", name: own, size: 0 };
  const reference = text(spec?.workloadRef?.name);
  if (reference !== undefined && reference !== "") return { kind: "Workload", name: reference, size: 0 };
  for (const name of POD_GROUPS) {
    const group = annotations[name] ?? labels[name];
    if (group !== undefined && group !== "") return { kind: "PodGroup", name: group, size: 0 };
  }
  const podGang = labels["grove.io/podgang"];
  if (podGang !== undefined && podGang !== "") return { kind: "PodGang", name: podGang, size: 0 };
  const workload = annotations["kueue.x-k8s.io/workload"] ?? labels["kueue.x-k8s.io/pod-group-name"];
  if (workload !== undefined && workload !== "") {
    return { kind: "Workload", name: workload, size: sizeOf(annotations["kueue.x-k8s.io/pod-group-total-count"]) };
  }
  const set = labels["leaderworkerset.sigs.k8s.io/name"];
  if (set !== undefined && set !== "") {
    const index = labels["leaderworkerset.sigs.k8s.io/group-index"];
    const size = sizeOf(annotations["leaderworkerset.sigs.k8s.io/size"]);
    return { kind: "LeaderWorkerSet", name: index === undefined ? set : `${set}-${index}`, size };
  }
  const jobSet = labels["jobset.sigs.k8s.io/jobset-name"];
  return jobSet === undefined || jobSet === "" ? undefined : { kind: "JobSet", name: jobSet, size: 0 };
}

function sizeOf(written: string | undefined): number {
  const parsed = parseCount(written ?? "0");
  return "value" in parsed ? parsed.value : 0;
}
