import type { RefusedPod, Target } from "../exporters/targets/target.ts";
import {
  annotatedPort,
  portsOfContainers,
  targetsOfPod,
  type AskedPage,
  type ContainerPort,
  type PagePod,
} from "./pod-target.ts";

/** Names of ports for pages of metrics: `metrics`, `http-metrics`, `metrics-1`, `prometheus`. */
const METRICS_PORT = /^(http-)?(metrics|prom|prometheus)(-[a-z0-9-]+)?$/;
/** Names of ports for requests. Engines have their page on the same port. */
const REQUEST_PORT = /^(http1?|h2c|api|openai|server|vllm|sglang|user-port|container-port)(-\d+)?$/;
/** Anyone who may create a pod can give it many ports. */
const MOST_TARGETS = 16;

/**
 * Returns the targets of a pod of an engine or a gateway. Several engines in one pod are several targets of that pod. A pod with the
 * annotation `prometheus.io/scrape: "false"` has none. Returns a refusal or `undefined` as {@link targetsOfPod}.
 */
export function targetsOfEngine(pod: PagePod, asked: AskedPage): readonly Target[] | RefusedPod | undefined {
  if (pod.metadata.annotations?.["prometheus.io/scrape"] === "false") return undefined;
  const targets = targetsOfPod(pod, asked, portsOf);
  if (targets === undefined || "reason" in targets) return targets;
  const { uid } = pod.metadata;
  return targets.map((target) => ({ ...target, pod: { ...target.pod!, uid } }));
}

/** Returns the ports by the first rule that finds one: annotation, names for metrics, names for requests, first port, usual port. */
function portsOf(pod: PagePod, port: number): readonly string[] {
  const containers = portsOfContainers(pod);
  const all = containers.flat();
  const numbers = (ports: readonly (ContainerPort | undefined)[]): string[] => {
    const given = ports.flatMap((each) => (each?.containerPort === undefined ? [] : [String(each.containerPort)]));
    return [...new Set(given)].slice(0, MOST_TARGETS);
  };
  const annotated = annotatedPort(pod);
  if (annotated !== undefined) return [annotated];
  const ofMetrics = numbers(all.filter(({ name = "" }) => METRICS_PORT.test(name)));
  if (ofMetrics.length > 0) return ofMetrics;
  const ofRequests = numbers(
    containers.map(
      (ports) =>
        ports.find(({ containerPort }) => containerPort === port) ??
        ports.find(({ name = "" }) => REQUEST_PORT.test(name)),
    ),
  );
  if (ofRequests.length > 0) return ofRequests;
  const [first] = numbers(all);
  return first === undefined && isFollower(pod) ? [] : [first ?? String(port)];
}

/** Returns whether a pod works for the leader of its group. Most followers serve nothing: those have no port either. */
function isFollower({ metadata: { labels = {} } }: PagePod): boolean {
  const index = labels["leaderworkerset.sigs.k8s.io/worker-index"] ?? "0";
  return index !== "0" || labels["ray.io/node-type"] === "worker";
}
