import type { Pods } from "./model.ts";
import type { PlacedPod } from "./model.ts";

/** Creates the pods of one sender, with those that an earlier process knew. */
export function createPods(saved: readonly (readonly [pod: string, node: string])[]): Pods {
  const nodes = new Map(saved);
  const asked = new Set(nodes.keys());
  let isKnown = nodes.size > 0;
  const keysOf = ({ namespace, name, ip }: Omit<PlacedPod, "pods">): readonly string[] => [
    `${namespace}/${name}`,
    ...(ip === "" ? [] : [ip]),
  ];
  return {
    get isKnown() {
      return isKnown;
    },
    nodeOf(pod) {
      const key = "ip" in pod ? pod.ip : `${pod.namespace}/${pod.name}`;
      const node = nodes.get(key);
      if (node !== undefined) asked.add(key);
      return node;
    },
    set(pod) {
      isKnown = true;
      for (const key of keysOf(pod)) nodes.set(key, pod.node);
    },
    remove(pod) {
      for (const key of keysOf(pod)) {
        if (nodes.get(key) !== pod.node) continue;
        nodes.delete(key);
        asked.delete(key);
      }
    },
    asked: () => [...asked].map((key) => [key, nodes.get(key)!]),
  };
}

/**
 * Returns the pod of a series `kube_pod_info`; undefined if it has no node yet. Prometheus puts `exported_` before the labels of
 * kube-state-metrics if the target has labels of the same names.
 */
export function podOf(labels: ReadonlyMap<string, string>): Omit<PlacedPod, "pods"> | undefined {
  const of = (label: string): string => labels.get(`exported_${label}`) ?? labels.get(label) ?? "";
  const [namespace, name, node] = [of("namespace"), of("pod"), of("node")];
  return node === "" || name === "" ? undefined : { namespace, name, ip: of("pod_ip"), node };
}
