import type { IncomingMessage, ServerResponse } from "node:http";
import { POD_PROXY, type Access } from "./access.ts";
import { discoveryOf } from "./discovery.ts";
import { createSent, replaceSent, type SentObject } from "./leases.ts";
import { listOf } from "./list.ts";
import { parseApiPath, type ApiPath } from "./path.ts";
import { parsePodProxyPath, passOnToPod, type PodProxyPath } from "./pod-proxy.ts";
import { isTrue, readListQuery } from "./query.ts";
import { replyJson, replyStatus, replyText } from "./reply.ts";
import { objectText, representationOf } from "./representation.ts";
import type { LoggedRequest, RequestLog } from "./request-log.ts";
import { resourceId, type ApiResource, type ResourceCatalog } from "./resources.ts";
import { reviewOf } from "./reviews.ts";
import { failure, notFound, StatusError } from "./status.ts";
import type { ObjectStore, Version } from "./store.ts";
import type { TroubleState } from "./troubles.ts";
import { openWatch, type OpenWatch } from "./watch.ts";

const LONGEST_BODY_BYTES = 1024 * 1024;

/** The dependencies of a server's handler. */
export interface HandlerParts {
  readonly store: ObjectStore;
  readonly catalog: ResourceCatalog;
  readonly access: Access;
  readonly troubles: TroubleState;
  readonly requests: RequestLog;
  readonly watches: Set<OpenWatch>;
  readonly now: () => number;
  readonly bookmarkMillis: number;
}

/** Creates a handler that answers like an API server: authentication, authorization, then the request. */
export function createHandler(parts: HandlerParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { store, catalog, access, troubles, requests, watches, bookmarkMillis } = parts;
  const now = (): number => parts.now() + troubles.skewMillis;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://server");
    const logged = logOf(request, url, now());
    requests.add(logged);
    const failed = troubles.takeFailure(logged);
    if (failed !== undefined) throw failedAnswer(failed.status, failed.retryAfterSeconds);
    if (!access.isAuthenticated(request.headers.authorization)) {
      throw failure(401, "Unauthorized", "Unauthorized");
    }
    const served = troubles.lacksCustomGroups ? { all: () => catalog.all().filter(({ custom }) => !custom) } : catalog;
    const discovered = request.method === "GET" ? discoveryOf(served, url.pathname, request.headers.accept) : undefined;
    if (discovered !== undefined) return replyJson(request, response, 200, discovered, troubles.shapeOf(logged));
    const proxied = parsePodProxyPath(url.pathname);
    if (proxied !== undefined) return passOn(proxied, request, url.search, response);
    const path = parseApiPath(url.pathname);
    if (path === undefined) return pageNotFound(response);
    if (path.group === "authorization.k8s.io" && request.method === "POST") {
      const review = reviewOf(access, path.resource, await bodyOf(request));
      return review === undefined ? pageNotFound(response) : replyJson(request, response, 201, review);
    }
    const verb = verbOf(request.method ?? "", path, url.searchParams);
    const { group, resource: name, namespace } = path;
    // The name of a namespace is also its namespace for the authorizer.
    const isNamespace = group === "" && name === "namespaces";
    const attempt = { verb, group, resource: name, namespace: isNamespace ? path.name : namespace, name: path.name };
    if (troubles.isForbidden || !access.isAllowed(attempt)) throw access.refusal(attempt);
    const resource = catalog.byPath(group, path.version, name);
    if (resource === undefined || (namespace !== "" && !resource.namespaced)) return pageNotFound(response);
    if (request.method === "GET")
      return path.name === "" ? collection(resource, path, url, logged) : one(resource, path);
    return write(resource, path);

    async function collection(
      of: ApiResource,
      { namespace: within }: ApiPath,
      { searchParams }: URL,
      log: LoggedRequest,
    ) {
      const query = readListQuery(of, searchParams, troubles.streamingLists);
      const representation = representationOf(request.headers.accept);
      const shape = troubles.shapeOf(log);
      if (!query.watch) {
        const text = listOf(store, of, { namespace: within, query, representation, faults: troubles });
        response.setHeader("content-type", "application/json");
        return replyText(request, response, text, shape);
      }
      const { tooOldAs } = troubles;
      const rules = { bookmarkMillis, tooOldAs, failsInitialEvents: troubles.streamingLists === "event" };
      const asked = { namespace: within, query, representation, rules, shape };
      const watch: OpenWatch = openWatch(store, of, asked, response, () => watches.delete(watch));
      watches.add(watch);
    }

    async function one(of: ApiResource, { namespace: within, name: called }: ApiPath): Promise<void> {
      const version = store.get(resourceId(of), within === "" ? called : `${within}/${called}`);
      if (version === undefined) throw notFound(of, called);
      return reply(of, version, 200);
    }

    async function write(to: ApiResource, { namespace: within, name: called }: ApiPath): Promise<void> {
      const isLease = resourceId(to) === "coordination.k8s.io/leases";
      const isCreated = isLease || resourceId(to) === "events";
      if (isCreated && request.method === "POST" && within !== "" && called === "") {
        return reply(to, createSent(store, to, within, await bodyOf(request), now()), 201);
      }
      if (isLease && request.method === "PUT" && called !== "") {
        return reply(to, replaceSent(store, to, within, called, await bodyOf(request)), 200);
      }
      throw failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    }

    async function reply(of: ApiResource, version: Version, status: number): Promise<void> {
      response.statusCode = status;
      response.setHeader("content-type", "application/json");
      const text = objectText(of, version, representationOf(request.headers.accept));
      return replyText(request, response, [`${text}\n`], troubles.shapeOf(logged));
    }
  }

  async function passOn(to: PodProxyPath, request: IncomingMessage, search: string, response: ServerResponse) {
    const verb = request.method === "GET" ? "get" : "create";
    const attempt = { verb, group: "", resource: POD_PROXY, namespace: to.namespace, name: to.target };
    if (troubles.isForbidden || !access.isAllowed(attempt)) throw access.refusal(attempt);
    await passOnToPod(store, to, request, search, response);
  }

  return (request, response) => {
    response.sendDate = false;
    response.setHeader("date", new Date(now()).toUTCString());
    response.on("error", () => response.destroy());
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      const status =
        error instanceof StatusError
          ? error.status
          : failure(500, "InternalError", `Internal error: ${String(error)}`).status;
      return replyStatus(request, response, status).catch(() => response.destroy());
    });
  };
}

function logOf(request: IncomingMessage, url: URL, atMillis: number): LoggedRequest {
  return {
    method: request.method ?? "",
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    userAgent: request.headers["user-agent"] ?? "",
    accept: request.headers.accept ?? "",
    atMillis,
  };
}

function verbOf(method: string, { name }: ApiPath, query: URLSearchParams): string {
  if (method === "GET") {
    if (name !== "") return "get";
    return isTrue(query.get("watch")) ? "watch" : "list";
  }
  const verbs: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };
  return verbs[method] ?? method.toLowerCase();
}

function failedAnswer(status: number, retryAfterSeconds: number | undefined): StatusError {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  if (status === 429) {
    return failure(429, "TooManyRequests", "Too many requests, please try again later.", details);
  }
  const reason = status === 503 ? "ServiceUnavailable" : "InternalError";
  return failure(status, reason, "Internal error occurred: etcdserver: request timed out", details);
}

/** Sends a plain 404. Real servers send no Status for a path without an installed resource. */
function pageNotFound(response: ServerResponse): void {
  response.statusCode = 404;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end("404 page not found\n");
}

async function bodyOf(request: IncomingMessage): Promise<SentObject> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LONGEST_BODY_BYTES) throw failure(413, "RequestEntityTooLarge", "Request entity too large");
    parts.push(part);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    if (typeof value === "object" && value !== null) return value as SentObject;
  } catch {
    // Handled below: every value that is not an object is refused in the same way.
  }
  throw failure(400, "BadRequest", "the object provided is unrecognized");
}
