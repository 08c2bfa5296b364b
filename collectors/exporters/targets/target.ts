import { namesNode, type Device } from "../../../domain/device.ts";

/** A scrape target that a discovery found. */
export interface Target {
  /** The full URL with path and query. */
  readonly url: string;
  /** `cluster` and `node` are used, of engines and gateways also `namespace`, `pod` and `pod_uid`. The others are only displayed. */
  readonly labels: Readonly<Record<string, string>>;
  /** The pod in Kubernetes, if the target was discovered there. The UID is that of an engine or a gateway. */
  readonly pod?: { readonly name: string; readonly nodeName: string; readonly uid?: string };
  /** Addresses whose pages are read together with the target's page: container metrics for the GPUs of the same node. */
  readonly companions?: readonly string[];
}

/** A pod that is labeled as a target and is not scraped, because its namespace, address, port or path is not allowed. */
export interface RefusedPod {
  readonly namespace: string;
  readonly name: string;
  readonly reason: "namespace" | "address" | "port" | "path";
  /** The end of a sentence that names what is not allowed; at most 200 characters. */
  readonly detail: string;
}

/** Receives the whole list of targets that a discovery found. */
export type OnTargets = (targets: readonly Target[], refused: readonly RefusedPod[]) => void;

/** A source of targets. It reports the whole list at each change. */
export interface Discovery {
  readonly name: string;
  /** Starts the discovery. `onTargets` gets the whole list now and at each change. `onError` gets the errors. */
  start(onTargets: OnTargets, onError: (error: Error) => void): void;
  stop(): Promise<void>;
}

/**
 * Completes an address (`host`, `host:port` or a URL; IPv6 in brackets) to a URL. Throws a TypeError with a sentence if it is not an
 * address.
 */
export function toUrl(address: string, defaults: { scheme: "http" | "https"; port: number; path: string }): string {
  const { scheme, port, path } = defaults;
  const whole = /^https?:\/\//.test(address) ? address : `${scheme}://${address}`;
  if (!URL.canParse(whole)) throw new TypeError(`${JSON.stringify(address)} is not an address`);
  const url = new URL(whole);
  // A URL object drops the default port of its scheme, so only the text shows whether a port was written.
  if (url.port === "" && !/:\d+(?:\/|$)/.test(whole.slice(scheme.length + 3))) url.port = String(port);
  if (url.pathname === "/" && url.search === "") {
    url.pathname = path.split("?")[0]!;
    url.search = path.includes("?") ? path.slice(path.indexOf("?")) : "";
  }
  return url.href;
}

/**
 * Returns the node of a target's rows: its `node` label; otherwise the node of the discovered pod; otherwise the host name on the page,
 * unless that is the exporter's own pod or "localhost"; otherwise the address.
 */
export function nodeOf(target: Target, devices: readonly Device[]): string {
  const label = target.labels["node"];
  if (label !== undefined && label !== "") return label;
  if (target.pod !== undefined) return target.pod.nodeName;
  const hostname = devices.find((device) => device.hostname !== undefined)?.hostname;
  if (hostname !== undefined && namesNode(hostname)) return hostname;
  return new URL(target.url).host;
}
