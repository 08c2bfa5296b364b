import type { Discovery, OnTargets, RefusedPod, Target } from "../exporters/targets/target.ts";
import type { ApiConnection } from "./api/connection.ts";
import type { ApiResource } from "./api/resource.ts";
import { targetOf, type ExporterPod } from "./exporter-target.ts";
import { startReflector, type Reflector } from "./reflector/reflector.ts";
import type { ReflectorTiming } from "./reflector/timing.ts";

/** The selector of exporter pods, with the port for pods without one. */
export interface ExporterSelector {
  readonly labels: string;
  /** The namespaces of the pods, instead of the discovery's own. */
  readonly namespaces?: readonly string[] | undefined;
  readonly port: number;
  /** True if their pages are companions of the page of their node's exporter. On a node without an exporter they are targets themselves. */
  readonly companion: boolean;
}

/**
 * The labels and ports of exporters in their own charts and operators: dcgm-exporter's chart, NVIDIA's GPU Operator, GKE's managed DCGM,
 * AMD's device-metrics-exporter by its chart and by AMD's operator, nvidia_gpu_exporter, HAMi's vGPU monitor.
 */
export const EXPORTER_SELECTORS: readonly ExporterSelector[] = [
  { labels: "app.kubernetes.io/name=dcgm-exporter", port: 9400, companion: false },
  { labels: "app=nvidia-dcgm-exporter", port: 9400, companion: false },
  { labels: "app.kubernetes.io/name=gke-managed-dcgm-exporter", port: 9400, companion: false },
  { labels: "app.kubernetes.io/name in (device-metrics-exporter,metrics-exporter)", port: 5000, companion: false },
  { labels: "app.kubernetes.io/name=nvidia-gpu-exporter", port: 9835, companion: false },
  { labels: "app.kubernetes.io/component=hami-device-plugin", port: 9394, companion: true },
];

/**
 * The namespaces of these charts and operators in their documentation: NVIDIA's GPU Operator with OpenShift's and earlier names, device
 * plugin and dcgm-exporter, GKE's managed ones, AMD's operator, HAMi, and the usual namespaces of monitoring.
 */
export const EXPORTER_NAMESPACES: readonly string[] = [
  "amazon-cloudwatch",
  "dcgm-exporter",
  "gke-managed-system",
  "gmp-public",
  "gpu-monitoring",
  "gpu-operator",
  "gpu-operator-resources",
  "hami-system",
  "kube-amd-gpu",
  "kube-system",
  "monitoring",
  "nvidia-device-plugin",
  "nvidia-gpu-operator",
  "openshift-amd-gpu",
];

const PODS: ApiResource = { group: "", version: "v1", plural: "pods", kind: "Pod" };

/**
 * Creates a discovery of exporter pods in a cluster. It follows them as they come and go: a pod is a target from when it runs until its
 * deletion is requested. The pod's node is the node of the target's rows. The discovery owns the connection.
 */
export function createKubernetesDiscovery(options: {
  readonly name: string;
  readonly api: ApiConnection;
  readonly selectors: readonly ExporterSelector[];
  /** The namespaces of exporters, `*` for any. A user who may create pods in other namespaces can give them the same labels. */
  readonly namespaces: readonly string[];
  readonly scheme: "http" | "https";
  readonly path: string;
  readonly timing?: ReflectorTiming;
}): Discovery {
  const { name, api, selectors, namespaces, scheme, path, timing } = options;
  const reflectors: Reflector[] = [];

  function start(onTargets: OnTargets, onError: (error: Error) => void): void {
    const found = selectors.map(() => new Map<string, Target | RefusedPod>());
    const listed = selectors.map(() => false);
    let last = "";
    /** Reports the targets once every selector's pods are known. Before that, a missing pod is not a deleted pod. */
    const report = (): void => {
      if (listed.includes(false)) return;
      const of = (companion: boolean): readonly (Target | RefusedPod)[] =>
        found.flatMap((pods, index) => (selectors[index]!.companion === companion ? [...pods.values()] : []));
      const [exporters, companions] = [of(false), of(true)];
      const targets = withCompanions(exporters.filter(isTarget), companions.filter(isTarget));
      const refused = [...exporters, ...companions].flatMap((each) => (isTarget(each) ? [] : [each]));
      const text = JSON.stringify([targets, refused]);
      if (text !== last) onTargets(targets, refused);
      last = text;
    };
    selectors.forEach(({ labels, port, namespaces: allowed = namespaces }, index) => {
      const pods = found[index]!;
      reflectors.push(
        startReflector({
          api,
          resource: PODS,
          labelSelector: labels,
          ...(timing === undefined ? {} : { timing }),
          sink: {
            onObject(object) {
              const outcome = targetOf(object as ExporterPod, { namespaces: allowed, scheme, port, path });
              if (outcome === undefined) pods.delete(object.metadata.uid);
              else pods.set(object.metadata.uid, outcome);
              report();
            },
            onGone({ uid }) {
              pods.delete(uid);
              report();
            },
            onListed() {
              listed[index] = true;
              report();
            },
          },
          events: {
            onListStarted: () => {},
            onWatchEvent: () => {},
            onWatchTaken: () => {},
            onWatchEnded: () => {},
            onVersionsBack: () => {},
            onError(error, _, isAbsent) {
              onError(error);
              // Pods that may not be listed count as none. Other selectors and other discoveries continue.
              if (isAbsent) listed[index] = true;
              report();
            },
          },
        }),
      );
    });
  }

  return {
    name,
    start,
    async stop() {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
      api.close();
    },
  };
}

/**
 * Returns exporters with the companions of their nodes, at the first exporter of each node. Companions of nodes without an exporter are
 * targets.
 */
export function withCompanions(exporters: readonly Target[], companions: readonly Target[]): readonly Target[] {
  const left = new Map<string, Target[]>();
  for (const each of companions) left.set(nodeNameOf(each), [...(left.get(nodeNameOf(each)) ?? []), each]);
  const joined = exporters.map((target): Target => {
    const ofNode = left.get(nodeNameOf(target));
    if (ofNode === undefined || !left.delete(nodeNameOf(target))) return target;
    return { ...target, companions: ofNode.map(({ url }) => url) };
  });
  return [...joined, ...[...left.values()].flat()];
}

function nodeNameOf({ pod }: Target): string {
  return pod?.nodeName ?? "";
}

function isTarget(outcome: Target | RefusedPod): outcome is Target {
  return "url" in outcome;
}
