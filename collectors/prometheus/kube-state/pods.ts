import { livesOf, type Life } from "./lives.ts";
import { imageOf } from "./containers.ts";
import type { ImportedOwners } from "./owners.ts";
import { importedMark, type ImportedPod } from "./imported-pod.ts";
import type { Played } from "./play.ts";
import { importedPodObject, type NameReaders } from "./pod-object.ts";
import { importedTimes } from "./pod-times.ts";
import type { Presence } from "./presence.ts";
import type { ImportRemarks, MissingData } from "./remarks.ts";
import { labelOf, rowsByObject, type Row } from "./row.ts";
import type { States } from "./states.ts";

const METRICS = { info: "kube_pod_info", created: "kube_pod_created" };
const RESOURCES = ["kube_pod_container_resource", "kube_pod_init_container_resource"].flatMap((metric) => [
  `${metric}_requests`,
  `${metric}_limits`,
]);
/** Marks of pods without a GPU resource that hold a part of a GPU or reserve one (KAI and Run:ai). */
const MARKS = ["gpu-fraction", "gpu-memory", "received-resource-type", "run.ai/reserve_for_gpu_index"];

/** Returns the lives of the GPU pods of rows, pod by pod. Pods without GPUs are left out. */
export function* importedPods(
  rows: Iterable<Row>,
  presence: Presence,
  readers: NameReaders & { readonly owners: Pick<ImportedOwners, "reference"> },
  remarks: ImportRemarks,
): Generator<Played> {
  for (const ofName of rowsByObject(rows, keyOf).values()) {
    const [namespace, name] = [labelOf(ofName[0]!, "namespace"), labelOf(ofName[0]!, "pod")];
    for (const life of livesOf(ofName, METRICS, presence)) {
      const { states } = life;
      if (!isForGpus(states, readers)) continue;
      const times = importedTimes(life, presence);
      const missing = [...missingIn(life, readers), ...times.missing];
      // A pod that has not started has no images yet.
      const odd = missing.filter((each) => each !== "images" || times.started !== undefined);
      for (const each of odd) remarks.add(each, `Pod ${namespace}/${name}`);
      // A pod of the same namespace, name and creation time is the same pod.
      const uid = life.uid ?? `imported/${namespace}/${name}/${times.created}`;
      const pod: ImportedPod = { namespace, name, uid, states, times, mark: importedMark(missing) };
      const { created, scheduled, started, finished, deletion } = times;
      yield {
        resource: "pods",
        uid,
        life,
        moments: [created, scheduled, started, finished, deletion].filter((at) => at !== undefined),
        objectAt: (atMillis) => importedPodObject(pod, atMillis, readers, readers.owners),
        endsWithImport: life.uid === undefined,
      };
    }
  }
}

function keyOf(row: Row): string | undefined {
  const [namespace, name] = [labelOf(row, "namespace"), labelOf(row, "pod")];
  return name === "" || !row.metric.startsWith("kube_pod_") ? undefined : `${namespace}/${name}`;
}

function isForGpus(states: States, { labels, resources }: NameReaders): boolean {
  const asks = RESOURCES.some((metric) =>
    states.rows(metric).some((row) => resources.gpu(labelOf(row, "resource")) !== undefined),
  );
  return (
    asks ||
    states.rows("kube_pod_annotations").some((row) => MARKS.some((mark) => labels.annotations(row)[mark] !== undefined))
  );
}

function missingIn({ uid, states }: Life, { resources }: NameReaders): readonly MissingData[] {
  const gpuRows = (metric: string): readonly Row[] =>
    states.rows(metric).filter((row) => resources.gpu(labelOf(row, "resource")) !== undefined);
  const hasRequestsOnly =
    gpuRows("kube_pod_container_resource_requests").length > 0 &&
    gpuRows("kube_pod_container_resource_limits").length === 0;
  const hasImages = states.rows("kube_pod_container_info").some((row) => imageOf(row) !== "");
  return [
    ...(uid === undefined ? (["uid"] as const) : []),
    ...(states.rows("kube_pod_labels").length === 0 ? (["labels of pods"] as const) : []),
    ...(hasRequestsOnly ? (["limits"] as const) : []),
    ...(hasImages ? [] : (["images"] as const)),
  ];
}
