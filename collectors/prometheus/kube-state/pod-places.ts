import type { NodeOfPod } from "../target-series.ts";
import { createRowReader, labelOf } from "./row.ts";
import type { Run, SeriesRuns } from "./runs.ts";

/** The nodes of pods over time. */
export interface PodPlaces {
  /** Takes a series of `kube_pod_info` or `kube_node_info`. Others are ignored. */
  take(series: SeriesRuns): void;
  /**
   * Returns the node of a pod at a time: by its namespace and name, or by the pod's address or the node's own. Where several pods had an
   * address, the one that had it at the time counts, otherwise the last before. Undefined if it is unknown.
   */
  nodeOfPod(pod: Parameters<NodeOfPod>[0], atMillis: number): string | undefined;
}

interface Place {
  readonly node: string;
  readonly runs: readonly Run[];
}

/** Creates an empty map of places. */
export function createPodPlaces(): PodPlaces {
  const reader = createRowReader();
  const byName = new Map<string, Place[]>();
  const byPodAddress = new Map<string, Place[]>();
  const byNodeAddress = new Map<string, Place[]>();
  const add = (places: Map<string, Place[]>, key: string, place: Place): void => {
    const known = places.get(key);
    if (known === undefined) places.set(key, [place]);
    else known.push(place);
  };

  return {
    take(series) {
      const row = reader.read(series);
      const place = { node: labelOf(row, "node"), runs: row.runs };
      if (place.node === "") return;
      const [podIp, hostIp, internalIp] = ["pod_ip", "host_ip", "internal_ip"].map((name) => labelOf(row, name));
      if (row.metric === "kube_pod_info") {
        add(byName, `${labelOf(row, "namespace")}/${labelOf(row, "pod")}`, place);
        if (podIp !== "" && podIp !== hostIp) add(byPodAddress, podIp!, place);
        if (hostIp !== "") add(byNodeAddress, hostIp!, place);
      } else if (row.metric === "kube_node_info" && internalIp !== "") add(byNodeAddress, internalIp!, place);
    },
    nodeOfPod(pod, atMillis) {
      if ("name" in pod) return nodeAt(byName.get(`${pod.namespace}/${pod.name}`), atMillis);
      return nodeAt(byPodAddress.get(pod.ip), atMillis) ?? nodeAt(byNodeAddress.get(pod.ip), atMillis);
    },
  };
}

function nodeAt(places: readonly Place[] | undefined, atMillis: number): string | undefined {
  let best: { readonly node: string; readonly distance: number } | undefined;
  for (const { node, runs } of places ?? []) {
    for (const { fromMillis, untilMillis } of runs) {
      const distance = Math.max(0, fromMillis - atMillis, atMillis - untilMillis);
      if (best === undefined || distance < best.distance) best = { node, distance };
    }
  }
  return best?.node;
}
