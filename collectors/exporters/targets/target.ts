import { namesNode, type Device } from "../../../domain/device.ts";

/** One address to scrape, as a discovery found it. */
export interface Target {
  /** The whole address, path and query included. */
  readonly url: string;
  /** `cluster` and `node` are used; the rest is only shown. */
  readonly labels: Readonly<Record<string, string>>;
  /** What Kubernetes says of the exporter's pod, where it was found there. */
  readonly pod?: { readonly name: string; readonly nodeName: string };
  /** Addresses whose pages are read as one with the target's page: what containers do on the GPUs of the same node. */
  readonly companions?: readonly string[];
}

/** A pod that is labelled as an exporter and is not scraped: where it runs, or where it wants to be asked, is not allowed. */
export interface RefusedPod {
  readonly namespace: string;
  readonly name: string;
  readonly reason: "namespace" | "address" | "port" | "path";
  /** A sentence's end that names what is not allowed, at most 200 characters. */
  readonly detail: string;
}

/** Takes the whole list of what a discovery has found. */
export type OnTargets = (targets: readonly Target[], refused: readonly RefusedPod[]) => void;

/** A source of targets: the whole list each time that it changes. */
export interface Discovery {
  readonly name: string;
  /** Starts looking; `onTargets` gets the whole list now and at each change, `onError` what went wrong meanwhile. */
  start(onTargets: OnTargets, onError: (error: Error) => void): void;
  stop(): Promise<void>;
}

/** Makes an address whole: `host`, `host:port` and URLs; IPv6 in brackets. Fails with a sentence where it is none. */
export function toUrl(address: string, defaults: { scheme: "http" | "https"; port: number; path: string }): string {
  const { scheme, port, path } = defaults;
  const whole = /^https?:\/\//.test(address) ? address : `${scheme}://${address}`;
  if (!URL.canParse(whole)) throw new TypeError(`${JSON.stringify(address)} is not an address`);
  const url = new URL(whole);
  // A URL forgets its scheme's own port: whether one was written shows in the text alone.
  if (url.port === "" && !/:\d+(?:\/|$)/.test(whole.slice(scheme.length + 3))) url.port = String(port);
  if (url.pathname === "/" && url.search === "") {
    url.pathname = path.split("?")[0]!;
    url.search = path.includes("?") ? path.slice(path.indexOf("?")) : "";
  }
  return url.href;
}

/**
 * The node of a target's rows: its `node` label; else the node of the discovered pod; else what the page says of its
 * host, unless that is the exporter's own pod or "localhost"; else the address.
 */
export function nodeOf(target: Target, devices: readonly Device[]): string {
  const label = target.labels["node"];
  if (label !== undefined && label !== "") return label;
  if (target.pod !== undefined) return target.pod.nodeName;
  const hostname = devices.find((device) => device.hostname !== undefined)?.hostname;
  if (hostname !== undefined && namesNode(hostname)) return hostname;
  return new URL(target.url).host;
}
