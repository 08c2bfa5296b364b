import { isIP } from "node:net";
import type { RefusedPod, Target } from "../exporters/targets/target.ts";
import type { ApiObject } from "./api/resource.ts";

/** A port of a container. */
export interface ContainerPort {
  readonly name?: string;
  readonly containerPort?: number;
}

/** The fields of a pod that determine the address of its page. */
export interface PagePod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & {
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly { readonly ports?: readonly ContainerPort[] }[];
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
 * Returns the targets of a pod at its own IP, one for each port: those with the name of the selector, or else those that `portsOf` returns.
 * Returns a refusal if the pod is in another namespace, or if its address, a port or its path is invalid. `undefined` while the pod is not
 * running or has no node, and if it has no port.
 */
export function targetsOfPod(
  pod: PagePod,
  asked: AskedPage,
  portsOf: (pod: PagePod, port: number) => readonly string[],
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
  const path = metadata.annotations?.["prometheus.io/path"];
  const ports = asked.portName === undefined ? portsOf(pod, asked.port) : portsNamed(pod, asked.portName);
  if (ports.length === 0) return undefined;
  // The zone of an IPv6 address cannot be part of a URL.
  if (isIP(podIP) === 0 || podIP.includes("%"))
    return refused("address", `has the IP ${JSON.stringify(podIP)}, which is none`);
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

/** Returns the port in a pod's annotations, from Prometheus' examples; undefined if there is none. */
export function annotatedPort({ metadata }: PagePod): string | undefined {
  return metadata.annotations?.["prometheus.io/port"];
}

function portsNamed(pod: PagePod, wanted: string): readonly string[] {
  const named = portsOfContainers(pod)
    .flat()
    .find(({ name }) => name === wanted);
  return named?.containerPort === undefined ? [] : [String(named.containerPort)];
}

/** Returns the ports of each of a pod's containers. */
export function portsOfContainers({ spec }: PagePod): readonly (readonly ContainerPort[])[] {
  return spec?.containers?.map(({ ports }) => ports ?? []) ?? [];
}
