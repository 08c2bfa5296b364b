import type { Discovery, OnTargets, RefusedPod, Target } from "../exporters/targets/target.ts";
import type { ApiConnection } from "./api/connection.ts";
import type { ApiResource } from "./api/resource.ts";
import { targetsOfEngine } from "./engine-target.ts";
import { targetOf } from "./exporter-target.ts";
import type { AskedPage, PagePod } from "./pod-target.ts";
import { startReflector, type Reflector } from "./reflector/reflector.ts";
import type { ReflectorTiming } from "./reflector/timing.ts";
import type { PodSelector } from "./selectors.ts";

const PODS: ApiResource = { group: "", version: "v1", plural: "pods", kind: "Pod" };

/** The pods with pages: exporters have one target each, engines and gateways one for each of their ports. */
export type PagesOf = "gpus" | "serving";

function targetsOf(pod: PagePod, reads: PagesOf, asked: AskedPage): readonly (Target | RefusedPod)[] {
  const found = reads === "gpus" ? targetOf(pod, asked) : targetsOfEngine(pod, asked);
  return [found ?? []].flat();
}

/**
 * Creates a discovery of pods with pages in a cluster. It follows them as they come and go: a pod is a target from when it runs until its
 * deletion is requested. The pod's node is the node of the target's rows. The discovery owns the connection.
 */
export function createKubernetesDiscovery(options: {
  readonly name: string;
  readonly api: ApiConnection;
  readonly reads: PagesOf;
  readonly selectors: readonly PodSelector[];
  /** The namespaces of the pods, `*` for any. A user who may create pods in other namespaces can give them the same labels. */
  readonly namespaces: readonly string[];
  readonly scheme: "http" | "https";
  readonly path: string;
  readonly timing?: ReflectorTiming;
}): Discovery {
  const { name, api, reads, selectors, namespaces, timing } = options;
  const reflectors: Reflector[] = [];

  function start(onTargets: OnTargets, onError: (error: Error) => void): void {
    const found = selectors.map(() => new Map<string, readonly (Target | RefusedPod)[]>());
    const listed = selectors.map(() => false);
    let last = "";
    /** Reports the targets once every selector's pods are known. Before that, a missing pod is not a deleted pod. */
    const report = (): void => {
      if (listed.includes(false)) return;
      const of = (companion: boolean): readonly (Target | RefusedPod)[] =>
        found.flatMap((pods, index) => (selectors[index]!.companion === companion ? [...pods.values()].flat() : []));
      const [exporters, companions] = [of(false), of(true)];
      const targets = withCompanions(exporters.filter(isTarget), companions.filter(isTarget));
      const refused = [...exporters, ...companions].flatMap((each) => (isTarget(each) ? [] : [each]));
      const text = JSON.stringify([targets, refused]);
      if (text !== last) onTargets(targets, refused);
      last = text;
    };
    selectors.forEach((selector, index) => {
      const { labels, port, portName } = selector;
      const { namespaces: allowed = namespaces, scheme = options.scheme, path = options.path } = selector;
      const asked = { namespaces: allowed, scheme, port, path, portName };
      const pods = found[index]!;
      reflectors.push(
        startReflector({
          api,
          resource: PODS,
          labelSelector: labels,
          ...(timing === undefined ? {} : { timing }),
          sink: {
            onObject(object) {
              const targets = targetsOf(object as PagePod, reads, asked);
              if (targets.length === 0) pods.delete(object.metadata.uid);
              else pods.set(object.metadata.uid, targets);
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
