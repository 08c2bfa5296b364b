import { request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { failure, notFound } from "./status.ts";
import { keyOf, type ObjectStore } from "./store.ts";

/** The parts of a path of the pod proxy. */
export interface PodProxyPath {
  readonly namespace: string;
  /** `name`, `name:port` or `scheme:name:port`. Authorizers get it as the name of the object. */
  readonly target: string;
  /** The path at the pod; `/` if it is empty. */
  readonly path: string;
}

const PROXY = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/proxy(\/.*)?$/;
const PODS = { group: "", version: "v1", resource: "pods", kind: "Pod", namespaced: true, custom: false } as const;
/** A real server dials for 30 s (k8s.io/apiserver). Nothing in the demo is that far away. */
const DIAL_MILLIS = 5_000;

interface ProxiedPod {
  readonly spec?: {
    readonly containers?: readonly { readonly ports?: readonly { readonly containerPort?: number }[] }[];
  };
  readonly status?: { readonly podIP?: string };
}

/** Reads `/api/v1/namespaces/<namespace>/pods/<target>/proxy/<path>`; undefined for any other path. */
export function parsePodProxyPath(pathname: string): PodProxyPath | undefined {
  const parts = PROXY.exec(pathname);
  if (parts === null) return undefined;
  const [, namespace, target, path = "/"] = parts;
  return { namespace: decodeURIComponent(namespace!), target: decodeURIComponent(target!), path };
}

/**
 * Passes a GET request on to a pod and its response back
 * (https://kubernetes.io/docs/tasks/access-application-cluster/access-cluster-services/#manually-constructing-apiserver-proxy-urls). Fails
 * with a 404 Status if there is no such pod, with a 400 if the pod has no address, and with a 503 if the pod does not answer.
 */
export async function passOnToPod(
  store: ObjectStore,
  { namespace, target, path }: PodProxyPath,
  request: IncomingMessage,
  search: string,
  response: ServerResponse,
): Promise<void> {
  const [name, port] = targetParts(target);
  const version = store.get("pods", keyOf({ namespace, name }));
  if (version === undefined) throw notFound(PODS, name);
  const { spec, status } = JSON.parse(version.object.json("")) as ProxiedPod;
  if (status?.podIP === undefined) throw failure(400, "BadRequest", "address not allowed");
  const ownPort = spec?.containers?.flatMap(({ ports }) => ports ?? [])[0]?.containerPort;
  const answer = await answerOf(
    { host: status.podIP, port: Number(port ?? ownPort ?? 80), path: path + search },
    request,
  );
  response.statusCode = answer.statusCode ?? 502;
  // The time in a response is the pod's, as on real servers.
  for (const name of ["content-type", "content-length", "date"]) {
    const value = answer.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  await pipeline(answer, response);
}

/** Returns the name and the port of `name`, `name:port` and `scheme:name:port`. The demo's pods have no TLS. */
function targetParts(target: string): readonly [name: string, port: string | undefined] {
  const parts = target.split(":");
  const [name = "", port] = parts.length === 3 ? parts.slice(1) : parts;
  return [name, port === "" ? undefined : port];
}

function answerOf(
  to: { readonly host: string; readonly port: number; readonly path: string },
  { socket, headers }: IncomingMessage,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = ask({ ...to, agent: false, headers: { accept: headers.accept ?? "*/*" } }, resolve);
    const close = (): void => void sent.destroy();
    socket.once("close", close);
    sent.once("close", () => socket.off("close", close));
    sent.once("socket", (dialed) => {
      const timer = setTimeout(() => dialed.destroy(new Error("i/o timeout")), DIAL_MILLIS);
      dialed.once("connect", () => clearTimeout(timer));
      dialed.once("close", () => clearTimeout(timer));
    });
    sent.on("error", ({ message }) => {
      // The words of real servers (k8s.io/apimachinery, upgradeaware.go).
      reject(failure(503, "ServiceUnavailable", `error trying to reach service: ${message}`));
    });
    sent.end();
  });
}
