import { isIP } from "node:net";
import { isLinkLocal } from "../../runtime/http/link-local.ts";
import type { RefusedPod, Target } from "../exporters/targets/target.ts";
import type { ApiObject } from "./api/resource.ts";

/** A port of a container. */
export interface ContainerPort {
  readonly name?: string;
  readonly containerPort?: number;
}

/** The fields of a container that determine whether its ports have the page. */
export interface PageContainer {
  readonly name?: string;
  readonly ports?: readonly ContainerPort[];
}

/** The fields of a pod that determine the address of its page. */
export interface PagePod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & {
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly PageContainer[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/** The parts of a selector and its job that determine the address of a pod's page. */
export interface AskedPage {
  /** The allowed namespaces, `*` for any. */
  readonly namespaces: readonly string[];
  readonly scheme: string;
  /** The port of a pod whose annotations and ports have none. */
  readonly port: number;
  readonly path: string;
  /** The name of the container port with the page. A pod without it has no page. */
  readonly portName?: string | undefined;
}

/**
 * A path only: no host before it, no query or fragment after it, and no encoded slash, which a proxy between could decode into another path.
 */
const PATH = /^\/(?!\/)(?:(?!%2f|%5c)[^\s\\?#])*$/i;
const MOST_DETAIL = 200;

/**
 * Returns the targets of a pod at its own IP, one for each port: those with the name of the selector, or else those that `choose` returns.
 * Returns a refusal if the pod is in another namespace, or if its address, a port or its path is invalid. `undefined` while the pod is not
 * running or has no node, and if it has no port.
 */
export function targetsOfPod(
  pod: PagePod,
  asked: AskedPage,
  choose: (pod: PagePod, port: number) => readonly string[],
): readonly Target[] | RefusedPod | undefined {
  const { metadata, spec, status } = pod;
  const { name, namespace = "" } = metadata;
  const { podIP = "" } = status ?? {};
  const nodeName = spec?.nodeName;
  if (status?.phase !== "Running" || metadata.deletionTimestamp !== undefined) return undefined;
  if (podIP === "" || nodeName === undefined) return undefined;
  const refused = (reason: RefusedPod["reason"], detail: string): RefusedPod => ({
    namespace,
    name,
    reason,
    detail: detail.slice(0, MOST_DETAIL),
  });
  if (!asked.namespaces.includes("*") && !asked.namespaces.includes(namespace))
    return refused("namespace", `runs in ${namespace}, which is not in the job's kubernetes.namespaces`);
  const { path } = annotatedPage(pod);
  const chosen = asked.portName === undefined ? choose(pod, asked.port) : portsNamed(pod, asked.portName);
  // An annotation can have the name of a container's port.
  const ports = chosen.flatMap((port) => (/^[a-z]/.test(port) ? [portsNamed(pod, port)[0] ?? port] : [port]));
  if (ports.length === 0) return undefined;
  // The zone of an IPv6 address cannot be part of a URL.
  if (isIP(podIP) === 0 || podIP.includes("%"))
    return refused("address", `has the IP ${JSON.stringify(podIP)}, which is none`);
  if (isLinkLocal(podIP)) return refused("address", `has the IP ${podIP}, which only its own machine reaches`);
  const invalid = ports.find((port) => !/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535);
  if (invalid !== undefined)
    return refused("port", `has the annotation prometheus.io/port: ${JSON.stringify(invalid)}, which is not a port`);
  if (path !== undefined && !PATH.test(path))
    return refused("path", `has the annotation prometheus.io/path: ${JSON.stringify(path)}, which is not a path`);
  return ports.map((port) => {
    const origin = `${asked.scheme}://${isIP(podIP) === 6 ? `[${podIP}]` : podIP}:${port}`;
    return {
      url: (path === undefined ? new URL(asked.path, origin) : new URL(`${origin}${path}`)).href,
      labels: { namespace, pod: name },
      pod: { name, nodeName },
    };
  });
}

/**
 * The ports of the proxies that service meshes inject: Istio's agent and Envoy, Linkerd, Consul, Kuma, Open Service Mesh. Istio's injector
 * writes its port into the annotations of every pod, and merges the page of the application only if the pod had annotations before.
 * Source: https://istio.io/latest/docs/ops/integrations/prometheus/, and the documentation of the others.
 */
const MESH_PORTS: ReadonlySet<string> = new Set(["15020", "15090", "4191", "20200", "5670", "15010"]);

/** Returns the port and the path in a pod's annotations, from Prometheus' examples. Those of a mesh's proxy are left out. */
export function annotatedPage({ metadata: { annotations = {} } }: PagePod): {
  readonly port?: string | undefined;
  readonly path?: string | undefined;
} {
  const port = annotations["prometheus.io/port"];
  return port !== undefined && MESH_PORTS.has(port) ? {} : { port, path: annotations["prometheus.io/path"] };
}

function portsNamed({ spec }: PagePod, wanted: string): readonly string[] {
  const named = portsOf(spec?.containers ?? []).find(({ name }) => name === wanted);
  return named?.containerPort === undefined ? [] : [String(named.containerPort)];
}

/** Returns the ports of some containers. */
export function portsOf(containers: readonly PageContainer[]): readonly ContainerPort[] {
  return containers.flatMap(({ ports }) => ports ?? []);
}
