import type { ServingHourRow } from "../../../runtime/store/schema/serving.ts";
import type { MeteredPage, MeteredSeries } from "./increases.ts";
import type { ServedPod } from "./served-pods.ts";

/** The measurements of a cluster's engines and gateways in one hour. */
export interface MeteredServing {
  readonly pages: readonly MeteredPage[];
  readonly series: readonly MeteredSeries[];
  readonly pods: readonly ServedPod[];
}

/**
 * Returns the rows of an hour: pods, their pages, and the series of each page. A page belongs to the pod with its UID, or with its namespace
 * and name if the page has no UID; of several such pods in an hour, to the last one. A page without a known pod, such as a gateway's, has no
 * workload.
 */
export function hourRows(
  { cluster, hour }: Pick<ServingHourRow, "cluster" | "hour">,
  { pages, series, pods }: MeteredServing,
): readonly ServingHourRow[] {
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  const byName = new Map(pods.toSorted((a, b) => a.from - b.from).map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
  const podOf = ({ podUid, namespace, pod }: MeteredPage): ServedPod | undefined =>
    podUid === "" ? byName.get(`${namespace}/${pod}`) : byUid.get(podUid);
  const empty = { ...EMPTY, cluster, hour };
  const ofPages = new Map(
    pages.map((page) => {
      const pod = podOf(page);
      const { target, exporter, scrapes, failures, namespace } = page;
      const place = pod === undefined ? { namespace, pod: page.pod, pod_uid: page.podUid } : placeOf(pod);
      return [
        keyOf(page),
        { ...empty, ...place, kind: "page", target, exporter, scrapes, failures, ...timesOf(page, pod) },
      ];
    }),
  );
  return [
    ...pods.map((pod) => ({ ...empty, ...placeOf(pod), kind: "pod", ...servedOf(pod) })),
    ...ofPages.values(),
    ...series.flatMap((each) => {
      const { kind, exporter, model, adapter, tenant, resets, increases } = each;
      const page = ofPages.get(keyOf(each));
      if (page === undefined) return [];
      return [{ ...page, ...NO_TIMES, kind, exporter, model, adapter, tenant, resets, increases }];
    }),
  ];
}

/** The identity of a page: its address and its pod. */
function keyOf({
  target,
  podUid,
  namespace,
  pod,
}: Pick<MeteredPage, "target" | "podUid" | "namespace" | "pod">): string {
  return JSON.stringify([target, podUid, namespace, pod]);
}

const NO_TIMES = {
  scrapes: 0,
  failures: 0,
  served_ms: 0,
  loading_ms: 0,
  covered_ms: 0,
  idle_ms: 0,
  running_ms: 0,
  waiting_ms: 0,
};

const EMPTY = {
  namespace: "",
  workload_kind: "",
  workload: "",
  replica: "",
  pod: "",
  pod_uid: "",
  target: "",
  exporter: "",
  model: "",
  adapter: "",
  tenant: "",
  resets: 0,
  ...NO_TIMES,
  increases: {},
};

function placeOf({ namespace, name, uid, workloadKind, workload, gang }: ServedPod) {
  return { namespace, pod: name, pod_uid: uid, workload_kind: workloadKind, workload, replica: gang };
}

function servedOf({ from, readyAt, until }: ServedPod) {
  return { served_ms: until - from, loading_ms: readyAt - from };
}

/** Returns the times of a page. A page is at most covered while its pod runs. */
function timesOf(page: MeteredPage, pod: ServedPod | undefined) {
  const served = pod === undefined ? { served_ms: page.coveredMillis, loading_ms: 0 } : servedOf(pod);
  const covered_ms = Math.min(page.coveredMillis, served.served_ms);
  const idle_ms = Math.min(page.idleMillis, covered_ms);
  return { ...served, covered_ms, idle_ms, running_ms: page.runningMillis, waiting_ms: page.waitingMillis };
}
