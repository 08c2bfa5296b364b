import type { RefusedPod, Target } from "../exporters/targets/target.ts";
import {
  annotatedPage,
  portsOf,
  targetsOfPod,
  type AskedPage,
  type ContainerPort,
  type PageContainer,
  type PagePod,
} from "./pod-target.ts";

/** Names of ports for pages of metrics: `metrics`, `http-metrics`, `metrics-1`, `prometheus`. */
const METRICS_PORT = /^(http-)?(metrics|prom|prometheus)(-[a-z0-9-]+)?$/;
/** Names of ports for requests. Engines have their page on the same port. */
const REQUEST_PORT = /^(http1?|h2c|api|openai|server|vllm|sglang|user-port|container-port)(-\d+)?$/;
/** Names of containers that are engines or gateways. Sidecars beside them have ports for metrics of their own. */
const ENGINE =
  /(^|-)(vllm|sglang|tgi|text-generation|triton|tritonserver|trtllm|tensorrt-llm|lmdeploy|nim|kserve-container|dynamo|litellm)(-|$)/;
/** Anyone who may create a pod can give it many ports. */
const MOST_TARGETS = 16;

/**
 * Returns the targets of a pod of an engine or a gateway. Several engines in one pod are several targets of that pod. A pod with the
 * annotation `prometheus.io/scrape: "false"` has none. Returns a refusal or `undefined` as {@link targetsOfPod}.
 */
export function targetsOfEngine(pod: PagePod, asked: AskedPage): readonly Target[] | RefusedPod | undefined {
  if (pod.metadata.annotations?.["prometheus.io/scrape"] === "false") return undefined;
  const targets = targetsOfPod(pod, asked, choose);
  if (targets === undefined || "reason" in targets) return targets;
  const { uid } = pod.metadata;
  return targets.map((target) => ({ ...target, pod: { ...target.pod!, uid } }));
}

/**
 * Returns the ports by the first rule that finds one: annotation, names for metrics, names for requests, first port, usual port. If a
 * container has the name of an engine, only such containers count. The usual port counts beside the ports for metrics of other containers.
 */
function choose(pod: PagePod, port: number): readonly string[] {
  const own = pod.spec?.containers ?? [];
  const engines = own.filter(({ name = "" }) => ENGINE.test(name));
  const containers: readonly PageContainer[] = engines.length > 0 ? engines : own;
  const all = portsOf(containers);
  const numbers = (ports: readonly (ContainerPort | undefined)[]): string[] => {
    const given = ports.flatMap((each) => (each?.containerPort === undefined ? [] : [String(each.containerPort)]));
    return [...new Set(given)].slice(0, MOST_TARGETS);
  };
  const annotated = annotatedPage(pod).port;
  if (annotated !== undefined) return [annotated];
  const isOfMetrics = ({ name = "" }: ContainerPort): boolean => METRICS_PORT.test(name);
  const isUsual = ({ containerPort }: ContainerPort): boolean => containerPort === port;
  if (all.some(isOfMetrics))
    return numbers(
      containers.flatMap(({ ports = [] }) =>
        ports.some(isOfMetrics) ? ports.filter(isOfMetrics) : ports.filter(isUsual),
      ),
    );
  const ofRequests = numbers(
    containers.map(({ ports = [] }) => ports.find(isUsual) ?? ports.find(({ name = "" }) => REQUEST_PORT.test(name))),
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
