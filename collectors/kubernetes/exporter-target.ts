import { isIP } from "node:net";
import type { RefusedPod, Target } from "../exporters/targets/target.ts";
import type { ApiObject } from "./api/resource.ts";

/** The fields of a pod that determine an exporter's address. */
export interface ExporterPod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly deletionTimestamp?: string };
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
    }[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/** A path only: no host before it, and no query or fragment after it. */
const PATH = /^\/(?!\/)[^\s\\?#]*$/;
const MOST_DETAIL = 200;

/**
 * Returns a pod's target, by the annotations from Prometheus' examples or else by its container's port. Returns a refusal if the pod is in
 * another namespace, or if its address, port or path is invalid. `undefined` while the pod is not running or has no node.
 */
export function targetOf(
  { metadata, spec, status }: ExporterPod,
  asked: {
    readonly namespaces: readonly string[];
    readonly scheme: string;
    readonly port: number;
    readonly path: string;
  },
): Target | RefusedPod | undefined {
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
  const ports = spec?.containers?.flatMap((container) => container.ports ?? []) ?? [];
  const ofContainer = ports.find((each) => each.name === "metrics") ?? ports[0];
  const { "prometheus.io/port": saidPort, "prometheus.io/path": saidPath } = metadata.annotations ?? {};
  const port = saidPort ?? String(ofContainer?.containerPort ?? asked.port);
  // The zone of an IPv6 address cannot be part of a URL.
  if (isIP(podIP) === 0 || podIP.includes("%"))
    return refused("address", `has the IP ${JSON.stringify(podIP)}, which is none`);
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    return refused("port", `has the annotation prometheus.io/port: ${JSON.stringify(port)}, which is not a port`);
  if (saidPath !== undefined && !PATH.test(saidPath))
    return refused("path", `has the annotation prometheus.io/path: ${JSON.stringify(saidPath)}, which is not a path`);
  const origin = `${asked.scheme}://${isIP(podIP) === 6 ? `[${podIP}]` : podIP}:${port}`;
  return {
    url: (saidPath === undefined ? new URL(asked.path, origin) : new URL(`${origin}${saidPath}`)).href,
    labels: { namespace, pod: name },
    pod: { name, nodeName },
  };
}
