import type { Discovery, Target } from "../dcgm/targets/target.ts";
import type { ApiConnection } from "./api/connection.ts";
import type { ApiResource, ApiObject } from "./api/resource.ts";
import { startReflector, type Reflector } from "./reflector/reflector.ts";
import type { ReflectorTiming } from "./reflector/timing.ts";

/** Which pods are exporters: a label selector, and where they answer where their pods do not say. */
export interface ExporterSelector {
  readonly labels: string;
  readonly port: number;
  /** Whether their pages are companions of the page of their node's exporter; on a node without one they are exporters. */
  readonly companion: boolean;
}

/**
 * The labels and ports that exporters have by their own charts and operators: dcgm-exporter's chart, NVIDIA's GPU Operator,
 * GKE's managed DCGM, AMD's device-metrics-exporter by its chart and by AMD's operator, nvidia_gpu_exporter, HAMi's vGPU monitor.
 */
export const EXPORTER_SELECTORS: readonly ExporterSelector[] = [
  { labels: "app.kubernetes.io/name=dcgm-exporter", port: 9400, companion: false },
  { labels: "app=nvidia-dcgm-exporter", port: 9400, companion: false },
  { labels: "app.kubernetes.io/name=gke-managed-dcgm-exporter", port: 9400, companion: false },
  { labels: "app.kubernetes.io/name in (device-metrics-exporter,metrics-exporter)", port: 5000, companion: false },
  { labels: "app.kubernetes.io/name=nvidia-gpu-exporter", port: 9835, companion: false },
  { labels: "app.kubernetes.io/component=hami-device-plugin", port: 9394, companion: true },
];

const PODS: ApiResource = { group: "", version: "v1", plural: "pods", kind: "Pod" };

/** A pod, as far as an exporter's address stands in it. */
interface ExporterPod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly deletionTimestamp?: string };
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
    }[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/**
 * Finds exporters as the pods of a cluster, and follows them as they come and go: a pod is a target from when it runs
 * until it is asked to end. Its node is the node of the target's rows. The connection is the discovery's own.
 */
export function createKubernetesDiscovery(options: {
  readonly name: string;
  readonly api: ApiConnection;
  readonly selectors: readonly ExporterSelector[];
  readonly scheme: "http" | "https";
  readonly path: string;
  readonly timing?: ReflectorTiming;
}): Discovery {
  const { name, api, selectors, scheme, path, timing } = options;
  const reflectors: Reflector[] = [];

  function start(onTargets: (targets: readonly Target[]) => void, onError: (error: Error) => void): void {
    const found = selectors.map(() => new Map<string, Target>());
    const listed = selectors.map(() => false);
    let last = "";
    /** Told when every selector's pods are known: until then what is missing is not gone. */
    const tell = (): void => {
      if (listed.includes(false)) return;
      const of = (companion: boolean): readonly Target[] =>
        found.flatMap((pods, index) => (selectors[index]!.companion === companion ? [...pods.values()] : []));
      const targets = withCompanions(of(false), of(true));
      const text = JSON.stringify(targets);
      if (text !== last) onTargets(targets);
      last = text;
    };
    selectors.forEach(({ labels, port }, index) => {
      const pods = found[index]!;
      reflectors.push(
        startReflector({
          api,
          resource: PODS,
          labelSelector: labels,
          ...(timing === undefined ? {} : { timing }),
          sink: {
            onObject(object) {
              const target = targetOf(object as ExporterPod, { scheme, path, port });
              if (target === undefined) pods.delete(object.metadata.uid);
              else pods.set(object.metadata.uid, target);
              tell();
            },
            onGone({ uid }) {
              pods.delete(uid);
              tell();
            },
            onListed() {
              listed[index] = true;
              tell();
            },
          },
          events: {
            onListStarted: () => {},
            onWatchEvent: () => {},
            onWatchEnded: () => {},
            onError(error) {
              onError(error);
              // Pods that may not be listed are none: other selectors and other discoveries go on.
              if (error.code === "forbidden") listed[index] = true;
              tell();
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

/** Exporters with the companions of their nodes, the first exporter of each; companions of nodes without an exporter are targets. */
function withCompanions(exporters: readonly Target[], companions: readonly Target[]): readonly Target[] {
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

/**
 * Where a pod's exporter answers, by the annotations that Prometheus' own examples use, else by its container's port;
 * `undefined` while it does not run, or is on no node.
 */
function targetOf(
  { metadata, spec, status }: ExporterPod,
  { scheme, path, port }: { readonly scheme: string; readonly path: string; readonly port: number },
): Target | undefined {
  const { podIP } = status ?? {};
  const nodeName = spec?.nodeName;
  if (status?.phase !== "Running" || metadata.deletionTimestamp !== undefined) return undefined;
  if (podIP === undefined || podIP === "" || nodeName === undefined) return undefined;
  const ports = spec?.containers?.flatMap((container) => container.ports ?? []) ?? [];
  const named = ports.find((each) => each.name === "metrics") ?? ports[0];
  const said = metadata.annotations ?? {};
  const host = podIP.includes(":") ? `[${podIP}]` : podIP;
  const url = `${scheme}://${host}:${said["prometheus.io/port"] ?? named?.containerPort ?? port}`;
  if (!URL.canParse(url)) return undefined;
  return {
    url: new URL(said["prometheus.io/path"] ?? path, url).href,
    labels: { namespace: metadata.namespace ?? "", pod: metadata.name },
    pod: { name: metadata.name, nodeName },
  };
}
